#!/usr/bin/env python3
"""Draws an OBJ mesh as a shaded picture: how the pictures in docs/images were made.

    taut run disc-on-torus --out disc.obj
    python3 docs/picture.py disc.obj docs/images/disc-on-torus.png 30 30

Needs numpy and Pillow. Angles in degrees: azimuth, elevation.
"""
import sys

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 900, 700
SUPERSAMPLING = 2
BACKGROUND = (245, 245, 245)
FRONT, BACK = np.array([90, 140, 220]), np.array([220, 130, 90])


def load_obj(path):
    vertices, triangles = [], []
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append([float(word) for word in words[1:4]])
            elif words[:1] == ["f"]:
                triangles.append([int(word.split("/")[0]) - 1 for word in words[1:4]])
    return np.array(vertices), np.array(triangles)


def view_axes(azimuth, elevation):
    azimuth, elevation = np.radians([azimuth, elevation])
    toward = np.array(
        [np.cos(elevation) * np.sin(azimuth), np.sin(elevation), np.cos(elevation) * np.cos(azimuth)]
    )
    right = np.cross([0, 1, 0], toward)
    right /= np.linalg.norm(right)
    return right, np.cross(toward, right), toward


def shade(vertices, triangles, toward):
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-20
    is_front = (normals @ toward > 0)[:, None]
    light = np.array([0.4, 0.8, 0.45]) / np.linalg.norm([0.4, 0.8, 0.45])
    lit = 0.25 + 0.75 * np.clip(np.where(is_front, normals, -normals) @ light, 0, 1)
    return (np.where(is_front, FRONT, BACK) * lit[:, None]).astype(int)


def draw(vertices, triangles, azimuth, elevation):
    right, up, toward = view_axes(azimuth, elevation)
    size = np.array([WIDTH, HEIGHT]) * SUPERSAMPLING
    plane = np.stack([vertices @ right, -(vertices @ up)], axis=1)
    low, high = plane.min(axis=0), plane.max(axis=0)
    scale = 0.9 * np.min(size / (high - low + 1e-9))
    pixels = size / 2 + (plane - (low + high) / 2) * scale
    colors = shade(vertices, triangles, toward)
    image = Image.new("RGB", tuple(size), BACKGROUND)
    pen = ImageDraw.Draw(image)
    # Farthest first, nearer ones painted over them.
    for index in np.argsort((vertices @ toward)[triangles].mean(axis=1)):
        pen.polygon([tuple(pixels[corner]) for corner in triangles[index]], fill=tuple(colors[index]))
    return image.resize((WIDTH, HEIGHT), Image.LANCZOS)


if __name__ == "__main__":
    source, target = sys.argv[1:3]
    azimuth, elevation = (float(word) for word in (sys.argv[3:5] + ["35", "25"])[:2])
    draw(*load_obj(source), azimuth, elevation).save(target)
