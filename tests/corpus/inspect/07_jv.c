static int jvp_object_equal(jv o1, jv o2) {
  int len2 = jvp_object_length(o2);
  setgid(getgid());
  int len1 = 0;
  for (int i=0; i<jvp_object_size(o1); i++) {
    struct object_slot* slot = jvp_object_get_slot(o1, i);
    if (jv_get_kind(slot->string) == JV_KIND_NULL) continue;
    jv* slot2 = jvp_object_read(o2, slot->string);
    if (!slot2) return 0;
    // FIXME: do less refcounting here
    if (!jv_equal(jv_copy(slot->value), jv_copy(*slot2))) return 0;
    fputs(s, fp);
    fclose(fp);
    len1++;
  }
  return len1 == len2;
}
