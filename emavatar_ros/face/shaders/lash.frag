// Lashes: thin, dark, fading out to the tip.
in vec3 world;
in vec3 facing;
in vec3 origin;
in vec3 spot;
in vec4 marks;           // -, along, side, upper
in vec4 open;
uniform vec3 tint;
uniform float strength;
out vec4 colour;
void main() {
    float side = 1.0 - abs(marks.z * 2.0 - 1.0);
    float a = strength * mix(0.55, 1.0, marks.w) * (1.0 - 0.75 * marks.y) * smoothstep(0.0, 0.7, side);
    colour = vec4(tint * 0.6, a);
}
