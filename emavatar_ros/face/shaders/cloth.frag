// The garment: a shell over the body, cut along a neckline.
in vec3 world;
in vec3 facing;
in vec3 origin;
in vec3 spot;
in vec4 marks;
in vec4 open;
uniform vec3 cloth;
uniform vec3 collar;
uniform float neckline;
out vec4 colour;
float weave(vec2 p) {
    vec2 q = sin(p);
    return q.x * q.y;
}
void main() {
    // Height of the edge of the garment above the collar bones, in the base mesh's measures.
    float edge = cut(origin) ;
    if (edge < 0.0) discard;
    vec3 n = normalize(facing);
    vec3 v = normalize(eye - world);
    float knit = weave(vec2(origin.x * 95.0, origin.y * 95.0 + 1.5 * sin(origin.x * 47.0)));
    float rib = smoothstep(0.11, 0.085, edge);
    float ribs = sin(atan(origin.x, origin.z - 0.1) * 150.0);
    n = normalize(n + vec3(0.05, 0.03, 0.0) * mix(knit, ribs * 1.6, rib));
    vec3 albedo = mix(cloth * cloth, collar * collar * 0.92, rib);
    albedo *= 0.93 + 0.07 * mix(knit, ribs, rib);
    albedo *= mix(1.0, 0.72, smoothstep(0.03, 0.0, abs(edge - 0.105)));
    float d = clamp((dot(n, KEY) + 0.15) / 1.15, 0.0, 1.0);
    vec3 light = KEY_COLOUR * d * open.y + FILL_COLOUR * clamp(dot(n, FILL), 0.0, 1.0) + ambient(n) * open.x;
    float edge_on = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    float fuzz = edge_on * edge_on;
    vec3 c = albedo * light * 0.95 + (albedo * 0.5 + 0.01) * fuzz * ambient(n);
    c += RIM_COLOUR * fuzz * (max(dot(n, RIM_LEFT), 0.0) * open.z + max(dot(n, RIM_RIGHT), 0.0) * open.w)
        * (0.15 + albedo) * 0.5;
    c *= smoothstep(-0.01, 0.025, edge) * 0.4 + 0.6;
    colour = vec4(screen(c), 1.0);
}
