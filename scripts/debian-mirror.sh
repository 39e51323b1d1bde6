#!/usr/bin/env bash
# Prints the address of the Debian mirror this machine is set up with, from one-line or deb822 sources.
found=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null)
found=${found%%[[:space:]]*}
echo "${found:-http://deb.debian.org/debian}"
