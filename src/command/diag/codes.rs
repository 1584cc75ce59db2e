//! Error codes. The first digit after the letter is the exit status of the command.

use std::fmt;

macro_rules! codes {
    ($($variant:ident = $text:literal, $title:literal, $explanation:literal;)+) => {
        /// The code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $title] $variant,)+ }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The code as text, for example `T0401`.
            pub fn text(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }

            /// A summary in one line.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)+ }
            }

            /// The meaning of the error, and what to do.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$variant => $explanation,)+ }
            }
        }
    };
}

codes! {
    CommandLine = "T0101", "The command line is invalid.",
        "An option is unknown, lacks its value or has an invalid value, or there is more than one input file.\n\
         'tileiras --help' lists the options; 'tileiras --help-hidden' also lists the rarely used ones.";
    NoInput = "T0102", "No input file was given.",
        "The command compiles one file. - is standard input.";
    UnreadableInput = "T0103", "The input file cannot be read.",
        "The file does not exist, is a directory, is not readable by this user, or is larger than 1 GiB. In a batch the\n\
         input must not be a pipe or a device, which could block the batch.";
    WriteFailed = "T0104", "The output could not be written.",
        "The output was opened, but writing to it failed, for example because the device is full. A regular file is\n\
         written under a temporary name and renamed at the end, so no partial file remains.";
    OptimizationLevel = "T0201", "The optimization level is not in the range 0 to 3.",
        "The levels are -O0, -O1, -O2 and -O3. The default is -O3.";
    OptimizedDebugging = "T0202", "Full debug information cannot be combined with optimization.",
        "-g requires -O0. The default level is -O3, so -O0 must be given explicitly. For profiling use --lineinfo, which\n\
         works at every level.";
    UnopenableOutput = "T0204", "The output file cannot be opened.",
        "The directory does not exist, the name is empty or a directory, or this user cannot write there.";
    BadConfiguration = "T0205", "An option's value conflicts with the rest of the configuration.",
        "The compiler rejected a pipeline option or a combination of options. The message names it.";
    NotTileIr = "T0301", "The input is not a Tile IR module.",
        "Tile IR bytecode starts with the eight bytes 7F 54 69 6C 65 49 52 00. A textual module is recognized by the\n\
         extension .mlir or by its first word. If the message says that the file looks like MLIR bytecode, it was\n\
         written by an MLIR tool: translate it with tileiras-translate.";
    BadModule = "T0302", "The module is corrupt or invalid.",
        "The bytecode cannot be decoded, its version is not supported, the text cannot be parsed, or the verifier\n\
         rejected an operation. The preceding messages give the location.";
    PtxasNotFound = "T0401", "ptxas, NVIDIA's assembler, was not found.",
        "ptxas generates cubins. It is not part of this project. The compiler searches --ptxas-path, CUDA_ROOT, CUDA_HOME\n\
         and CUDA_PATH, its own directory, and PATH. Install a CUDA toolkit of release 13.0 or newer, or NVIDIA's Python\n\
         package nvidia-cuda-nvcc. '--emit=ptx' does not need ptxas.";
    PtxasTooOld = "T0402", "Every installed ptxas is too old.",
        "The PTX of this kernel needs a newer PTX version, or a target that the installed ptxas does not support. The\n\
         message lists the installed versions and the required one.";
    CoreNotFound = "T0403", "The compiler's core program was not found.",
        "tileiras answers simple requests itself and starts a second program for compilations. That program must be in\n\
         the same directory. Install both.";
    LibNvvmNotFound = "T0404", "libNVVM, NVIDIA's code generator, was not found.",
        "--backend=libnvvm needs NVIDIA's library, which is not part of this project. The compiler searches\n\
         --libnvvm-path; CUDA_ROOT, CUDA_HOME and CUDA_PATH; the parent of its own directory; and toolkits whose ptxas is\n\
         on PATH. The library comes with the CUDA toolkit and with NVIDIA's Python package nvidia-nvvm. Without the option\n\
         LLVM's code generator is used, which needs no library.";
    LibdeviceNotFound = "T0405", "libdevice, NVIDIA's library of math functions, was not found.",
        "--libdevice needs NVIDIA's library, which is not part of this project. With --libdevice=FILE the compiler uses\n\
         only that file. Without a value it searches CUDA_ROOT, CUDA_HOME and CUDA_PATH; the parent of its own directory;\n\
         and toolkits whose ptxas is on PATH. The library comes with the CUDA toolkit and with NVIDIA's Python package\n\
         nvidia-nvvm. Without the option the compiler uses its own functions, which need no library.";
    CompileFailed = "T0501", "The module could not be compiled.",
        "The preceding messages give the reason. A valid module fails only if a kernel needs more of a resource (shared\n\
         memory, registers, tensor memory) than the target has.";
    PtxasFailed = "T0502", "ptxas rejected the generated code.",
        "The messages of ptxas follow unchanged. 'uses too much shared data' means that the tiles of this kernel need more\n\
         shared memory than the target has. Any other error is a defect of this compiler: please report it with the input\n\
         and the output of '--emit=ptx'.";
    TemporaryFile = "T0503", "A temporary file could not be created.",
        "TMPDIR (default /tmp) must name a directory with free space that this user can write to.";
    PtxasTimeout = "T0504", "ptxas did not finish in time.",
        "The limit is set by --ptxas-timeout or the environment variable TILEIRAS_PTXAS_TIMEOUT, in seconds.";
    Internal = "T0701", "Internal compiler error.",
        "This is a defect of the compiler. Please report it with the input and the command line. The exit status is 70.";
}

impl Code {
    /// Parses a code, in upper or lower case.
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.text().eq_ignore_ascii_case(text))
    }

    /// The exit status of a command that ends with this error.
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

/// All codes with their explanations in Markdown, for the documentation.
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
