in vec2 place;
out vec2 at;
void main() {
    at = place;
    gl_Position = vec4(place, 0.9999, 1.0);
}
