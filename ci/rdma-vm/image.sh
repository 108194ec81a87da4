# The virtual machine's kernel and first files, made below target/rdma-vm from two Debian packages that are downloaded and
# unpacked there, not installed. Sourced by ci/rdma-vm/run.
# shellcheck shell=bash

readonly VM_FOLDER="$VERBENA_HOME/target/rdma-vm"
# What is loaded, in this order, after what it needs. Without crc32_generic rdma_rxe refuses every network interface.
readonly VM_MODULES="crc32_generic virtio_pci virtio_net virtio_console 9p 9pnet_virtio overlay sch_netem rdma_rxe ib_uverbs rdma_ucm"

image_is_current() {
    [ -f "$VM_FOLDER/kernel" ] && [ -f "$VM_FOLDER/initrd.gz" ] &&
        [ -z "$(find "$VERBENA_HOME/ci/rdma-vm/init" "$VERBENA_HOME/ci/rdma-vm/image.sh" -newer "$VM_FOLDER/initrd.gz")" ]
}

# make_image: if need be. VERBENA_VM_KERNEL names a downloaded linux-image package, for machines without a network.
make_image() {
    image_is_current && return 0
    mkdir -p "$VM_FOLDER"
    exec 6>"$VM_FOLDER/lock"
    flock 6
    if ! image_is_current; then
        rm -rf "$VM_FOLDER/new"
        mkdir -p "$VM_FOLDER/new/files" "$VM_FOLDER/packages"
        download_image_packages
        unpack_image || {
            rm -f "$VM_FOLDER"/packages/*.deb # perhaps cut short: fetched anew the next time
            say "verbena: could not make the virtual machine's files; see target/rdma-vm/image.log"
            exit 1
        }
        rm -rf "$VM_FOLDER/new"
    fi
    exec 6>&-
}

download_image_packages() {
    for tool in apt-get apt-cache dpkg-deb; do
        command -v $tool >/dev/null || lack "no $tool here: the virtual machine's kernel comes as a package of Debian (linux-image-amd64)"
    done
    [ -n "$(kernel_package)" ] || refresh_lists
    package=$(kernel_package)
    [ -n "$package" ] || lack "apt knows no package linux-image-amd64 of Debian; download one and name it: VERBENA_VM_KERNEL=FILE.deb"
    download_package "$package" && download_package busybox-static && return 0
    # The lists may name a version that is no longer there.
    refresh_lists
    package=$(kernel_package)
    { download_package "$package" && download_package busybox-static; } ||
        lack "could not download $package and busybox-static; see target/rdma-vm/image.log. When the network works: apt-get update, and again"
}

kernel_package() {
    [ -z "${VERBENA_VM_KERNEL-}" ] || { printf '%s' "$VERBENA_VM_KERNEL"; return; }
    apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-[0-9]/ { print $2; exit }'
}

refresh_lists() {
    local root=''
    if [ "$(id -u)" != 0 ]; then
        root='sudo -n'
        sudo -n true 2>/dev/null || lack "the package lists are missing or old, and only root may fetch them: sudo apt-get update"
    fi
    say "  (fetching the package lists: apt-get update)"
    $root apt-get update >>"$VM_FOLDER/image.log" 2>&1 || lack "apt-get update failed; see target/rdma-vm/image.log"
}

download_package() {
    case $1 in
    */*) [ -f "$1" ] && cp "$1" "$VM_FOLDER/packages/linux-image.deb"; return ;;
    linux-image*) name=linux-image ;;
    *) name=$1 ;;
    esac
    [ ! -f "$VM_FOLDER/packages/$name.deb" ] || return 0
    say "Downloading a Debian package and unpacking it below target/rdma-vm (it is not installed):"
    print_size "$1"
    (cd "$VM_FOLDER/new" && apt-get download "$1" >>"$VM_FOLDER/image.log" 2>&1 &&
        mv -- "$1"_*.deb "$VM_FOLDER/packages/$name.deb")
}

unpack_image() {
    local new=$VM_FOLDER/new version
    {
        dpkg-deb -x "$VM_FOLDER/packages/busybox-static.deb" "$new/tools" &&
            dpkg-deb --fsys-tarfile "$VM_FOLDER/packages/linux-image.deb" | tar -C "$new" -x ./boot ./lib/modules &&
            version=$(ls "$new/lib/modules") &&
            "$new/tools/bin/busybox" depmod -b "$new" "$version" &&
            gather_files "$new/lib/modules/$version" "$new/files" &&
            (cd "$new/files" && find . | ../tools/bin/busybox cpio -o -H newc | gzip -1 >"$new/initrd.gz") &&
            mv "$new/boot/vmlinuz-$version" "$VM_FOLDER/kernel" &&
            mv "$new/initrd.gz" "$VM_FOLDER/initrd.gz"
    } >>"$VM_FOLDER/image.log" 2>&1
}

# gather_files MODULES FILES: what lies in the machine's memory before the host's files are there.
gather_files() {
    local path paths applet
    paths=$(module_files "$1/modules.dep") || return 1
    mkdir -p "$2"/{bin,modules,proc,sys,dev,host,layer,system}
    cp "$VM_FOLDER/new/tools/bin/busybox" "$2/bin/"
    for applet in sh mount mkdir insmod cp chroot sync poweroff; do ln -s busybox "$2/bin/$applet"; done
    install -m 755 "$VERBENA_HOME/ci/rdma-vm/init" "$2/init"
    for path in $paths; do
        cp "$1/$path" "$2/modules/" || return 1
        basename "$path"
    done | sed 's/\.xz$//' >"$2/modules/order"
    ! ls "$2"/modules/*.xz >/dev/null 2>&1 || xz -d "$2"/modules/*.xz
}

# module_files MODULES.DEP: the files of VM_MODULES, each after those that it needs. Fails if one is missing.
module_files() {
    awk -v wanted="$VM_MODULES" '
        function name(path) { sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path); return path }
        function visit(path, i, n, parts) {
            if (path in seen) return
            seen[path] = 1
            n = split(needs[path], parts, " ")
            for (i = 1; i <= n; i++) visit(parts[i])
            print path
        }
        { path = $1; sub(/:$/, "", path); file[name(path)] = path; $1 = ""; needs[path] = $0 }
        END {
            n = split(wanted, names, " ")
            for (i = 1; i <= n; i++) if (names[i] in file) visit(file[names[i]]); else { print "this kernel has no module " names[i] >"/dev/stderr"; missing = 1 }
            exit missing
        }' "$1"
}
