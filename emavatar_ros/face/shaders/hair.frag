// Hair: a band of fine strands with two streaks of shine along it, thin at its edges and its tip.
in vec3 world;
in vec3 facing;
in vec3 way;
in vec4 spot;
in vec3 origin;
uniform vec3 root_colour;
uniform vec3 tip_colour;
uniform float grey;
out vec4 colour;
void main() {
    float strand = sin(spot.x * 9.0 + spot.w * 40.0) * 0.5 + sin(spot.x * 23.0 + spot.w * 91.0 + spot.y * 3.0) * 0.5;
    float side = 1.0 - spot.x * spot.x;
    float a = smoothstep(0.0, 0.45, side + strand * 0.18) * smoothstep(1.0, 0.90, spot.y + strand * 0.04)
        * smoothstep(0.0, 0.06, spot.y);
    if (a < 0.04) discard;
    vec3 t = normalize(way);
    vec3 n = normalize(facing);
    vec3 v = normalize(eye - world);
    vec3 albedo = mix(root_colour, tip_colour, clamp(spot.y * 0.8 + spot.z * 0.45 + strand * 0.12, 0.0, 1.0));
    float silver = step(1.0 - grey, fract(spot.w * 7.31));
    albedo = mix(albedo, vec3(0.55, 0.54, 0.53), silver * 0.75);
    albedo *= albedo;
    float tl = dot(t, KEY);
    float diffuse = clamp((dot(n, KEY) + 0.25) / 1.25, 0.0, 1.0) * sqrt(max(0.0, 1.0 - tl * tl)) ;
    vec3 h = normalize(KEY + v);
    float th = dot(t, h) + strand * 0.06 + spot.z * 0.04;
    float s1 = max(0.0, 1.0 - (th + 0.06) * (th + 0.06));
    float s2 = max(0.0, 1.0 - (th - 0.12) * (th - 0.12));
    s1 *= s1; s1 *= s1; s1 *= s1; s1 *= s1; s1 *= s1; s1 *= s1;
    s2 *= s2; s2 *= s2; s2 *= s2; s2 *= s2;
    float front = smoothstep(-0.2, 0.5, dot(n, KEY));
    vec3 c = albedo * (KEY_COLOUR * diffuse * 0.95 + ambient(n) * 0.70 + FILL_COLOUR * max(dot(n, FILL), 0.0));
    c += (vec3(0.10) * s1 + albedo * 0.75 * s2) * KEY_COLOUR * front;
    float edge = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    c += (albedo * 1.3 + 0.03) * RIM_COLOUR * edge * edge * (max(dot(n, RIM_LEFT), 0.0) + max(dot(n, RIM_RIGHT), 0.0)) * 0.8;
    c *= 0.80 + 0.28 * strand * (0.6 + 0.4 * side);
    colour = vec4(screen(c), a);
}
