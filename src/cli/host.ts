/** The process of the command line, which tests can replace. */

export interface Stream {
  write(text: string): void
  /** Resolves when the stream can take more. */
  pass(bytes: Uint8Array): Promise<void>
  /** The terminal's width in columns; undefined for a pipe or a file. */
  columns: number | undefined
  colour: boolean
}

/** Lines of standard input. */
export interface InputLines extends Disposable {
  isTerminal: boolean
  /** The next line. Undefined at the end of input, after the host's signal, or after `stop`. */
  next(prompt: string, stop?: AbortSignal): Promise<string | undefined>
}

export interface Host {
  env: Record<string, string | undefined>
  /** The user's home folder. */
  home: string
  name: string
  stdout: Stream
  stderr: Stream
  /** Reads standard input to its end. */
  readInput(): Promise<string>
  readFile(path: string): Promise<string>
  /** Reads a line without echo. Undefined if there is no terminal. */
  askSecret(prompt: string): Promise<string | undefined>
  lines(): Promise<InputLines>
  /**
   * The text as the user left it in an editor, in a file with that name. Undefined if there is no
   * terminal or no editor.
   */
  edit(text: string, name: string): Promise<string | undefined>
  /** Aborted by SIGINT. */
  signal: AbortSignal
  /**
   * Passes SIGINT to `listener` first. If that returns false, `signal` aborts. Returns a function
   * that undoes this.
   */
  onInterrupt(listener: () => boolean): () => void
  /** Monotonic milliseconds. */
  now(): number
  /** Resolves after `ms`; rejects as soon as the signal aborts. */
  pause(ms: number): Promise<void>
  /** Opens a URL in the browser. Never fails. */
  open(url: string): void
}
