#!/usr/bin/env bash
# Renders the pictures of the README and of docs/gallery.md, and writes the latter. Runs from any
# directory; needs a graphics driver (Debian: mesa-vulkan-drivers). Give names of pictures to render
# only these; give the path of a built taut in $TAUT to build none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

taut="${TAUT:-}"
if [ -z "$taut" ]; then
  cargo build --release --locked --quiet -p taut-cli
  taut="${CARGO_TARGET_DIR:-target}/release/taut"
fi
folder=docs/gallery
mkdir -p "$folder"

# One picture: its name, the scene, and what else to tell `taut render`.
picture() {
  local name="$1" scene="$2"
  shift 2
  if [ "${#wanted[@]}" -gt 0 ] && [[ ! " ${wanted[*]} " == *" $name "* ]]; then return; fi
  "$taut" render "$scene" --out "$folder/$name.png" --size "${size:-560x350}" --supersample 2 "$@"
}
wanted=("$@")

if [ "${#wanted[@]}" -eq 0 ]; then
  "$taut" render disc-on-torus --steps 600 --camera 28,30 --size 840x525 --supersample 2 \
    --out docs/images/disc-on-torus.png
fi

# The moment and the side from which each scene shows best.
picture balloon balloon --steps 150
picture big-torus big-torus --steps 20 --camera 28,32
picture bunny bunny --steps 30
picture cloth-on-tube cloth-on-tube --steps 120
size=512x320 picture disc-on-torus disc-on-torus --steps 600 --camera 28,30
picture disc-on-torus-triangles disc-on-torus-triangles --steps 600 --camera 28,30
picture falling-cube falling-cube --steps 30
picture flag flag --steps 200
picture hanging-cloth hanging-cloth --steps 120
picture long-range-cloth long-range-cloth --steps 120
picture omotondo omotondo --steps 60
picture ribbon ribbon --steps 240
picture rubber-blocks rubber-blocks --steps 60
picture spring-cloth spring-cloth --steps 100
size=400x250 picture squishy-ball squishy-ball --steps 20
picture stretched-cloth stretched-cloth --steps 10
picture tori-100 tori-100 --steps 45
size=480x300 picture tori-400 tori-400 --steps 360 --camera 28,28
# What colors can show besides.
picture partition cloth-on-tube --steps 120 --color partition --set 'bodies.0.mesh.grid.particles=[24,24]'
size=480x300 picture clusters cloth-on-tube --steps 120 --color partition --partition cluster --part block
picture strain hanging-cloth --steps 120 --color strain
picture speed flag --steps 200 --color speed
picture wireframe bunny --steps 30 --wireframe

{
  echo "# Gallery"
  echo
  echo "The built-in scenes, drawn by \`taut render\`. \`docs/gallery.sh\` makes these pictures."
  echo
  "$taut" scenes --json | python3 -c '
import json, sys
for scene in json.load(sys.stdin):
    name, title = scene["name"], scene["title"]
    counts = "{:,} particles, {:,} constraints".format(scene["particles"], scene["constraints"])
    print(f"**{name}**: {title}. {counts}.\n\n![{title}](gallery/{name}.png)\n")
'
  echo "## What colors can show"
  echo
  echo "**\`--color partition\`**: constraints that are solved at the same time have the same color."
  echo
  echo "![A coloring of the edges of cloth](gallery/partition.png)"
  echo
  echo "**\`--partition cluster --color partition --part block\`**: clusters, each solved by one worker."
  echo
  echo "![Clusters of the edges of cloth](gallery/clusters.png)"
  echo
  echo "**\`--color strain\`**, **\`--color speed\`**: from blue (0) to red and to yellow."
  echo
  echo "![The strain of hanging cloth](gallery/strain.png)"
  echo
  echo "![The speed of a flag](gallery/speed.png)"
  echo
  echo "**\`--wireframe\`**: the edges of triangles."
  echo
  echo "![The triangles of a bunny](gallery/wireframe.png)"
} > docs/gallery.md.partial
mv docs/gallery.md.partial docs/gallery.md
