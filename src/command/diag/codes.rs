//! The codes of errors. The first digit after the letter is the exit status of the command.

use std::fmt;

macro_rules! codes {
    ($($variant:ident = $text:literal, $title:literal, $explanation:literal;)+) => {
        /// The code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $title] $variant,)+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// E.g. `T0401`.
            pub fn text(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }

            /// One line.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)+ }
            }

            /// What it means and what to do.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$variant => $explanation,)+ }
            }
        }
    };
}

codes! {
    CommandLine = "T0101", "The command line cannot be understood.",
        "An option is unknown, lacks its value, has a value it does not take, or there is more than one input file.\n\
         'tileiras --help' lists the options, 'tileiras --help-hidden' all of them.";
    NoInput = "T0102", "No input file was named.",
        "The command compiles one file. - is standard input.";
    UnreadableInput = "T0103", "The input file cannot be read.",
        "The file does not exist, is a directory, may not be read by this user, or has more than 1 GiB. In a batch it may\n\
         also be a pipe or a device, for which the batch would have to wait.";
    WriteFailed = "T0104", "The output could not be written.",
        "The output was opened, but writing to it failed, for instance because the device is full. A regular file is\n\
         written under a temporary name and renamed at the end, so no partial file was left behind.";
    OptimizationLevel = "T0201", "The optimization level is not in 0 to 3.",
        "-O0, -O1, -O2 and -O3 exist; -O3 is the default.";
    OptimizedDebugging = "T0202", "Full debug information and optimization exclude each other.",
        "-g needs -O0, also when no -O is given, since the default is -O3. For profiling use --lineinfo, which works at\n\
         every level.";
    UnopenableOutput = "T0204", "The output file cannot be opened.",
        "The directory does not exist, the name is a directory or empty, or this user may not write there.";
    BadConfiguration = "T0205", "An option's value does not fit the rest of the configuration.",
        "The compiler refused a pipeline option or a combination of options. The message names it.";
    NotTileIr = "T0301", "The input is not a Tile IR module.",
        "Tile IR bytecode starts with the eight bytes 7F 54 69 6C 65 49 52 00. A module in text is\n\
         known by the extension .mlir, or by its first word. If the message says that the file looks like MLIR bytecode, it was written by an MLIR tool:\n\
         translate it with tileiras-translate.";
    BadModule = "T0302", "The module is damaged or not valid.",
        "The bytecode cannot be decoded, its version is not supported, the text cannot be parsed, or the verifier\n\
         refused an operation. The messages before say where.";
    PtxasNotFound = "T0401", "ptxas, NVIDIA's assembler, was not found.",
        "A cubin is made by ptxas, which this project does not contain. It is looked for with --ptxas-path, in\n\
         CUDA_ROOT, CUDA_HOME and CUDA_PATH, beside the compiler, and on PATH. Install a CUDA toolkit of release 13.0 or\n\
         newer, or NVIDIA's Python package nvidia-cuda-nvcc. '--emit=ptx' needs no ptxas.";
    PtxasTooOld = "T0402", "Every ptxas that was found is too old.",
        "The PTX of this kernel needs a newer version of the language, or names a target that the found ptxas does not\n\
         know. The message lists what was found and what is needed.";
    CoreNotFound = "T0403", "The compiler's core program was not found.",
        "The command answers simple questions itself and starts a second program for compilation, which must lie in the\n\
         same directory. Install both.";
    LibNvvmNotFound = "T0404", "libNVVM, NVIDIA's code generator, was not found.",
        "--backend=libnvvm needs NVIDIA's library, which this project does not contain. It is looked for with\n\
         --libnvvm-path, below CUDA_ROOT, CUDA_HOME and CUDA_PATH, below the directory above the compiler's, and beside a\n\
         ptxas on PATH. It comes with the CUDA toolkit and with NVIDIA's Python package nvidia-nvvm. Without the option LLVM's\n\
         own code generator is used, which needs no library.";
    LibdeviceNotFound = "T0405", "libdevice, NVIDIA's mathematical functions, was not found.",
        "--libdevice needs NVIDIA's library, which this project does not contain. With --libdevice=FILE that file is used and\n\
         no other; without a value it is looked for below CUDA_ROOT, CUDA_HOME and CUDA_PATH, below the directory above the\n\
         compiler's, and beside a ptxas on PATH. It comes with the CUDA toolkit and with NVIDIA's Python package nvidia-nvvm.\n\
         Without the option the compiler's own functions are used, which need no library.";
    CompileFailed = "T0501", "The module could not be compiled.",
        "The messages before say why. A valid module fails only when a kernel needs more of a resource (shared memory,\n\
         registers, tensor memory) than the target has.";
    PtxasFailed = "T0502", "ptxas refused the generated code.",
        "ptxas' own messages follow unchanged. 'uses too much shared data' means that the tiles of this kernel need more\n\
         shared memory than the target has. Anything else is a defect of this compiler: please report it with the\n\
         input and the output of '--emit=ptx'.";
    TemporaryFile = "T0503", "A temporary file could not be created.",
        "TMPDIR, or /tmp without it, must name a directory with free space in which this user may write.";
    PtxasTimeout = "T0504", "ptxas did not finish in time.",
        "The time is set by --ptxas-timeout or the environment variable TILEIRAS_PTXAS_TIMEOUT, in seconds.";
    Internal = "T0701", "The compiler failed internally.",
        "This is a defect of the compiler. Please report it with the input and the command line. The exit status is 70.";
}

impl Code {
    /// The code with this text; upper or lower case.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.text().eq_ignore_ascii_case(text))
    }

    /// The exit status of the command when this error ends it.
    pub fn exit_status(self) -> u8 {
        match self.text().as_bytes()[2] - b'0' {
            7 => 70,
            status => status,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// All codes with their explanations, for the documentation. Markdown.
pub fn markdown() -> String {
    let mut out = String::new();
    for code in Code::ALL {
        out.push_str(&format!(
            "## {code}: {}\n\nExit status {}.\n\n{}\n\n",
            code.title(),
            code.exit_status(),
            code.explanation()
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_ordered_and_name_their_exit_status() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].text() < pair[1].text(), "{} before {}", pair[0], pair[1]);
        }
        for code in Code::ALL {
            assert_eq!(Code::parse(&code.text().to_lowercase()), Some(*code));
            assert!(matches!(code.exit_status(), 1..=5 | 70), "{code}");
            assert!(code.title().ends_with('.') && code.explanation().ends_with('.'), "{code}");
        }
        assert_eq!(Code::parse("T9999"), None);
        assert_eq!(Code::PtxasNotFound.exit_status(), 4);
        assert_eq!(Code::Internal.exit_status(), 70);
    }
}
