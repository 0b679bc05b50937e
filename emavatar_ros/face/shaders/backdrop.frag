// A calm wall: light falls off from a soft pool behind the head; a little noise hides the bands.
in vec2 at;
uniform vec3 near_colour;
uniform vec3 far_colour;
uniform float aspect;
out vec4 colour;
void main() {
    vec2 p = (at - vec2(0.12, 0.10)) * vec2(aspect, 1.0);
    float fall = smoothstep(0.0, 1.0, length(p) * 0.52);
    vec3 c = mix(near_colour, far_colour, fall);
    c *= 1.0 - 0.10 * smoothstep(0.2, -1.2, at.y);
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    colour = vec4(c + (noise - 0.5) / 255.0, 1.0);
}
