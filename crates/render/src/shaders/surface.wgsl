// Bodies and shapes: two-sided, with a bright key light, the sky, light from the ground, and a sheen.

struct Corner {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
}

@vertex
fn corner(
    @location(0) place: vec4<f32>,
    @location(1) normal: vec4<f32>,
    @location(2) color: vec4<f32>,
) -> Corner {
    let clip = globals.view_projection * vec4(place.xyz, 1.0);
    return Corner(clip, place.xyz, normal.xyz, color);
}

@fragment
fn surface(in: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4<f32> {
    let normal = normalize(select(-in.normal, in.normal, is_front));
    let toward_eye = normalize(globals.eye.xyz - in.place);
    // The fourth number says how far the back differs from the front.
    let pale = mix(linear(in.color.rgb), BACK_COLOR, BACK_SHARE);
    let albedo = mix(linear(in.color.rgb), pale, select(in.color.a, 0.0, is_front));

    let key_direction = globals.key_direction.xyz;
    let facing = dot(normal, key_direction);
    // Cloth lets some light through and scatters it: the edge of its own shadow is soft.
    let wrapped = max((facing + WRAP) / (1.0 + WRAP), 0.0);
    let key = KEY_COLOR * wrapped * key_share(in.place, normal, in.clip.xy);
    let sky = SKY_COLOR * sky_light(in.place, normal, in.clip.xy);
    let bounce = BOUNCE_COLOR * (0.5 - 0.5 * normal.y);

    let halfway = normalize(key_direction + toward_eye);
    let gloss = pow(max(dot(normal, halfway), 0.0), GLOSS_POWER) * GLOSS;
    let sheen = pow(1.0 - max(dot(normal, toward_eye), 0.0), 4.0) * SHEEN;
    let color = albedo * (key + sky + bounce) * ALBEDO + gloss * key + sheen * sky;
    return vec4(expose(color), 1.0);
}
