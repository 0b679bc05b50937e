// The light of the room: one soft key from the upper left, a cool fill, sky and floor, two lights from behind.
// Colours are linear-ish (screen value squared); `screen` goes back. Directions point to the light.
uniform vec3 eye;        // where the camera is, dm
const vec3 KEY = vec3(-0.4735, 0.5209, 0.7103);
const vec3 FILL = vec3(0.6963, 0.1741, 0.6963);
const vec3 KEY_COLOUR = vec3(1.00, 0.95, 0.88);
const vec3 FILL_COLOUR = vec3(0.20, 0.225, 0.25);
const vec3 SKY = vec3(0.34, 0.36, 0.39);
const vec3 FLOOR = vec3(0.20, 0.165, 0.145);
const vec3 RIM_LEFT = vec3(0.8889, 0.2222, -0.4000);
const vec3 RIM_RIGHT = vec3(-0.8889, 0.3333, -0.3143);
const vec3 RIM_COLOUR = vec3(0.95, 0.98, 1.05);
vec3 ambient(vec3 n) { return mix(FLOOR, SKY, n.y * 0.5 + 0.5); }
// Screen value from light: a soft shoulder, then gamma 2.
vec3 screen(vec3 c) {
    c = clamp(c, 0.0, 2.0);
    return sqrt(c * (1.08 - 0.27 * c));
}
// Light that skin sends back, before its colour: it bleeds into the shade in red. open: to all, key, left, right.
vec3 skin_light(vec3 n, vec4 open) {
    float d = dot(n, KEY), ao = open.x, lit = open.y;
    vec3 wrap = clamp((d + vec3(0.38, 0.20, 0.15)) / vec3(1.38, 1.20, 1.15), 0.0, 1.0);
    vec3 shadow = mix(lit * lit * vec3(0.55, 0.92, 1.0) + lit * vec3(0.45, 0.08, 0.0), vec3(1.0), 0.08);
    vec3 light = KEY_COLOUR * wrap * shadow;
    light += FILL_COLOUR * clamp(dot(n, FILL) * 0.7 + 0.3, 0.0, 1.0) * ao;
    light += ambient(n) * vec3(mix(ao, 1.0, 0.18), ao * mix(ao, 1.0, 0.35), ao * mix(ao, 1.0, 0.25));
    return light * 0.94;
}
// What glances off at the edges: sky, and the lights from behind.
float glance(vec3 n, vec3 v, vec4 open) {
    float edge = 1.0 - clamp(dot(n, v), 0.0, 1.0), e2 = edge * edge;
    float back = max(dot(n, RIM_LEFT), 0.0) * open.z + max(dot(n, RIM_RIGHT), 0.0) * open.w * 0.7;
    return (0.028 + 0.4 * e2 * e2) * 0.16 * open.x + back * e2 * 0.20;
}
vec3 cloth_light(vec3 n, vec4 open) {
    float d = clamp((dot(n, KEY) + 0.15) / 1.15, 0.0, 1.0);
    return (KEY_COLOUR * d * open.y + FILL_COLOUR * clamp(dot(n, FILL), 0.0, 1.0) + ambient(n) * open.x) * 0.95;
}
