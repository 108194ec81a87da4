/** The software NIC, its generated bindings, and loading of native code. */
module dev.verbena.natives {
    requires org.bytedeco.javacpp;
}
