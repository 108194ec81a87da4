/*
 * NativeAccess.openPackage: opens a package of a module to another module, as --add-opens does. JNI
 * is not subject to the module system's checks. The only JNI written by hand: JavaCPP has no word
 * for an argument that stays a Java object.
 */
#include <jni.h>

/* 0; -1: this JDK has no such method; -2: it threw. */
JNIEXPORT jint JNICALL Java_dev_verbena_softnic_NativeAccess_openPackage(JNIEnv *env, jclass caller,
                                                                         jobject of, jstring name,
                                                                         jobject to)
{
    (void)caller;
    jclass module = (*env)->GetObjectClass(env, of);
    jmethodID open = (*env)->GetMethodID(env, module, "implAddExportsOrOpens",
                                         "(Ljava/lang/String;Ljava/lang/Module;ZZ)V");
    if (!open) {
        (*env)->ExceptionClear(env);
        return -1;
    }
    (*env)->CallVoidMethod(env, of, open, name, to, JNI_TRUE, JNI_TRUE);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return -2;
    }
    return 0;
}
