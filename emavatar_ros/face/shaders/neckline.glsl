// How far inside the garment a place of the base mesh is, dm; its edge runs around the neck, lower in front.
float cut(vec3 p) {
    float front = smoothstep(-0.2, 1.0, p.z);
    return mix(5.98, 5.62, front) + 0.10 * abs(p.x) - p.y;
}
