// Eye: painted iris and white seen through a bulging cornea that mirrors the window, in the shade of the lids.
in vec3 world;
in vec3 facing;
in vec3 inner;
uniform sampler2D iris;
uniform mat3 turn;
uniform mat3 look;       // rotation of the ball in the head
uniform vec4 ball;
uniform vec2 lids;       // height of the upper and of the lower lid's edge, dm
out vec4 colour;
float pane(vec3 r, vec2 middle, vec2 half_size, float soft) {
    vec2 q = abs(r.xy / max(r.z + 0.35, 0.15) - middle) - half_size;
    return (1.0 - smoothstep(-soft, soft, max(q.x, q.y))) * step(-0.2, r.z);
}
void main() {
    vec3 out_ = normalize(facing);
    vec3 v = normalize(eye - world);
    mat3 ball_frame = turn * look;
    vec3 d = out_ * ball_frame;
    vec3 local_view = v * ball_frame;
    float r = length(d.xy);
    float cornea = 1.0 - smoothstep(0.38, 0.52, r);
    vec2 q = d.xy - cornea * local_view.xy / max(local_view.z, 0.4) * 0.10 * (1.0 - r * r * 4.0);
    vec3 albedo = texture(iris, q * 0.5 + 0.5).rgb;
    if (d.z < 0.0) albedo = vec3(0.80, 0.74, 0.72);
    albedo *= albedo;
    vec3 n = normalize(out_ + ball_frame * vec3(d.xy * 0.55 * (1.0 - smoothstep(0.40, 0.56, r)), 0.0));
    // Iris: lit from across, as a dish is; white: soft.
    vec3 dish = normalize(out_ - ball_frame * vec3(d.xy * 1.6, 0.0));
    float lit = mix(clamp((dot(out_, KEY) + 0.5) / 1.5, 0.0, 1.0), clamp((dot(dish, KEY) + 0.3) / 1.3, 0.0, 1.0) * 1.25,
        cornea);
    vec2 place = (inner.xy - ball.xy) / ball.w;
    float upper = (lids.x - ball.y) / ball.w - 0.34 * place.x * place.x;
    float lower = (lids.y - ball.y) / ball.w + 0.25 * place.x * place.x;
    float shade = mix(0.34, 1.0, smoothstep(-0.02, 0.34, upper - place.y));
    shade *= mix(0.70, 1.0, smoothstep(-0.02, 0.14, place.y - lower));
    shade *= 1.0 - 0.45 * smoothstep(0.45, 0.95, abs(place.x));
    vec3 c = albedo * (KEY_COLOUR * lit * 0.80 + ambient(out_) * 0.75) * vec3(shade, shade * mix(shade, 1.0, 0.85),
        shade * mix(shade, 1.0, 0.8));
    vec3 mirror = reflect(-v, n);
    float seen = smoothstep(0.02, 0.16, upper - place.y);
    float window = pane(mirror, vec2(-0.38, 0.20), vec2(0.19, 0.21), 0.05);
    float low = pane(mirror, vec2(0.55, -0.25), vec2(0.10, 0.22), 0.10);
    float wet = mix(0.25, 1.0, cornea);
    c += vec3(1.05, 1.04, 1.0) * window * seen * wet + vec3(0.035, 0.04, 0.045) * low * wet;
    float edge = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    c += SKY * (0.02 + 0.25 * edge * edge * edge) * seen * 0.6;
    // The wet line along the lower lid.
    float line = smoothstep(0.05, 0.0, abs(place.y - lower - 0.03));
    c += vec3(0.10, 0.09, 0.09) * line * shade * smoothstep(0.9, 0.4, abs(place.x));
    colour = vec4(screen(c), 1.0);
}
