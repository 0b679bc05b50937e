// The light of the room: one soft key from the upper left, a cool fill, sky and floor, two lights from behind.
// Colours are linear-ish (screen value squared); out = sqrt. Directions point to the light.
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
    c = c * (1.0 + 0.12 * c) / (0.93 + 0.45 * c);
    return sqrt(max(c, 0.0));
}
