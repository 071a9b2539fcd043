/**
 * A host for the command line that records output, pauses and opened addresses; pauses take no
 * time.
 */
import type { Host, InputLines, Stream } from '#cli/host'
import { runCommandLine } from '#cli/main'

export interface CliOptions {
  env?: Record<string, string>
  home?: string
  /** Standard input. */
  input?: string
  files?: Record<string, string>
  /** What the user types at the password prompt; without it, there is no terminal. */
  secret?: string
  /** Columns of the terminal; without it, there is no terminal. */
  columns?: number
  colour?: boolean
  signal?: AbortSignal
  /**
   * Lines that the user types at prompts, then ^D; without them, standard input is a pipe. A
   * function waits until it returns.
   */
  typed?: (string | ((stop?: AbortSignal) => Promise<string | undefined>))[]
  /** What the user leaves in the editor; without it, there is none. */
  edit?(text: string): string
  /** `send` is ^C, once the command has begun. */
  interrupt?: { send?: () => boolean }
  /** Runs during each pause. */
  meanwhile?(seen: { err: string }): Promise<unknown>
}

export interface CliRun {
  code: number
  out: string
  err: string
  /** Milliseconds of each pause. */
  pauses: number[]
  /** Addresses opened in the browser. */
  opened: string[]
}

const NOWHERE = '/nonexistent'

interface Seen extends Omit<CliRun, 'code'> {
  passed: number
}

const stream = (
  seen: Seen,
  name: 'out' | 'err',
  { columns, colour = false }: CliOptions,
): Stream => ({
  write(text) {
    seen[name] += text
  },
  async pass(bytes) {
    seen[name] += Buffer.from(bytes).toString('utf8')
  },
  columns,
  colour,
})

const linesOf = (seen: Seen, { typed, input = '' }: CliOptions): InputLines => {
  const left = typed ? [...typed] : input.split('\n').filter((line) => line !== '')
  return {
    isTerminal: typed !== undefined,
    async next(prompt, stop) {
      if (typed) seen.err += prompt
      const line = stop?.aborted ? undefined : left.shift()
      return typeof line === 'function' ? line(stop) : line
    },
    [Symbol.dispose]: () => {},
  }
}

const hostOf = (seen: Seen, options: CliOptions): Host => ({
  env: options.env ?? {},
  home: options.home ?? NOWHERE,
  name: 'test-machine',
  stdout: stream(seen, 'out', options),
  stderr: stream(seen, 'err', options),
  readInput: async () => options.input ?? Promise.reject(new Error('nothing was to be read')),
  readFile: async (path) => options.files?.[path] ?? Promise.reject(new Error(`ENOENT: ${path}`)),
  async askSecret(prompt) {
    if (options.secret !== undefined) seen.err += prompt
    return options.secret
  },
  lines: async () => linesOf(seen, options),
  edit: async (text) => options.edit?.(text),
  signal: options.signal ?? new AbortController().signal,
  onInterrupt(listener) {
    if (options.interrupt) options.interrupt.send = listener
    return () => {
      if (options.interrupt) options.interrupt.send = undefined
    }
  },
  now: () => seen.passed,
  async pause(ms) {
    seen.pauses.push(ms)
    options.signal?.throwIfAborted()
    await options.meanwhile?.(seen)
    seen.passed += ms
  },
  open: (url) => void seen.opened.push(url),
})

/** Runs a command line in this process. */
export const cli = async (argv: readonly string[], options: CliOptions = {}): Promise<CliRun> => {
  const seen: Seen = { out: '', err: '', pauses: [], opened: [], passed: 0 }
  const code = await runCommandLine(argv, hostOf(seen, options))
  const { out, err, pauses, opened } = seen
  return { code, out, err, pauses, opened }
}
