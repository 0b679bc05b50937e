// A ribbon of fine hairs, read from a painted strip: each hair lighter or darker, apart from each other at the tip.
in vec4 tone;
in vec3 shine;
in vec4 spot;
uniform vec2 edge;           // cover that is drawn: from, below
uniform sampler2D strip;     // red: tone, green: cover
out vec4 colour;
void main() {
    vec2 hair = texture(strip, vec2(spot.x * 0.12 + spot.z * 7.0, spot.y)).rg;
    float side = 1.0 - abs(spot.x);
    float a = clamp(hair.g * 1.5 * min(1.0, side * 2.2 + hair.r - 0.5) , 0.0, 1.0);
    a = max(a, spot.w * clamp((0.93 - spot.y) * 30.0, 0.0, 1.0));
    if (a < edge.x || a >= edge.y) discard;
    vec3 c = tone.rgb * (0.55 + 0.9 * hair.r) + shine * (0.25 + 1.5 * hair.r);
    colour = vec4(screen(c), a);
}
