/** What the command line needs of the process that it runs in, so that tests can be that process. */

export interface Stream {
  write(text: string): void
  /** Resolves when there is room for more. */
  pass(bytes: Uint8Array): Promise<void>
  /** Columns of the terminal; undefined when it is none: a pipe or a file. */
  columns: number | undefined
  colour: boolean
}

export interface Host {
  env: Record<string, string | undefined>
  /** The home folder of the user. */
  home: string
  name: string
  stdout: Stream
  stderr: Stream
  /** Standard input to its end. */
  readInput(): Promise<string>
  readFile(path: string): Promise<string>
  /** A line that a person types and nobody sees; undefined where there is no terminal. */
  askSecret(prompt: string): Promise<string | undefined>
  /** Aborted by SIGINT. */
  signal: AbortSignal
  /** Milliseconds; never steps back. */
  now(): number
  /** Resolves after `ms`, rejects at once when the signal is aborted. */
  pause(ms: number): Promise<void>
  /** Starts a program that shows an address; never fails. */
  open(url: string): void
}
