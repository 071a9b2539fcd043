/**
 * The process of the command line. Only this file uses the environment and the standard streams.
 * Code that only some commands need is loaded on demand.
 */
import { homedir, hostname } from 'node:os'
import { version } from '../../package.json'
import type { Host, Stream } from './host.ts'

const LARGEST_INPUT = 16 * 2 ** 20
const NARROWEST = 40

const streamOf = (stream: NodeJS.WriteStream): Stream => ({
  write: (text) => void stream.write(text),
  pass: (bytes) =>
    new Promise((resolve) => (stream.write(bytes) ? resolve() : stream.once('drain', resolve))),
  columns: stream.isTTY ? Math.max(NARROWEST, stream.columns || 80) : undefined,
  colour: Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
})

/** Drops the final newline that editors and `echo` add. */
const textOf = (bytes: Buffer, from: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw new Error(`${from} is not valid UTF-8`)
  }
}

const readInput = async (): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > LARGEST_INPUT) throw new Error('standard input exceeds 16 MiB')
    chunks.push(chunk)
  }
  return textOf(Buffer.concat(chunks), 'standard input')
}

const BACKSPACE = ['\u007f', '\b']

/** Reads a line without echo. Undefined after ^C, ^D or the signal. */
const readHidden = (prompt: string, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve) => {
    const { stdin, stderr } = process
    let text = ''
    const end = (line: string | undefined): void => {
      stdin.off('data', take)
      signal.removeEventListener('abort', stop)
      if (!stdin.destroyed) stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      resolve(line)
    }
    const stop = () => end(undefined)
    const ends: Record<string, () => void> = {
      '\r': () => end(text),
      '\n': () => end(text),
      '\u0003': () => void process.emit('SIGINT'),
      '\u0004': stop,
    }
    const take = (chunk: string): void => {
      for (const character of chunk) {
        ends[character]?.()
        if (ends[character]) return
        text = BACKSPACE.includes(character) ? [...text].slice(0, -1).join('') : text + character
      }
    }
    signal.addEventListener('abort', stop, { once: true })
    // Set before the prompt, so that early input is not echoed either.
    stdin.setRawMode(true)
    stderr.write(prompt)
    stdin.setEncoding('utf8')
    stdin.on('data', take)
    stdin.resume()
  })

const askSecretOf =
  (signal: AbortSignal) =>
  async (prompt: string): Promise<string | undefined> =>
    process.stdin.isTTY && process.stderr.isTTY && !signal.aborted
      ? readHidden(prompt, signal)
      : undefined

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens a URL without a shell, which could interpret it. A missing browser is not an error. */
const open = async (url: string): Promise<void> => {
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  try {
    const { spawn } = await import('node:child_process')
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
  } catch {
    // The URL has been printed as well.
  }
}

const pauseOf =
  (signal: AbortSignal) =>
  (ms: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      }, ms)
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })

const edit = async (text: string, name: string): Promise<string | undefined> => {
  const editor = process.env.VISUAL || process.env.EDITOR
  if (!editor || !process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return (await import('./editor.ts')).editIn(editor, text, name)
}

const hostOf = ({ signal, onInterrupt, interrupt }: ReturnType<typeof interrupts>): Host => ({
  env: process.env,
  home: homedir(),
  name: hostname(),
  stdout: streamOf(process.stdout),
  stderr: streamOf(process.stderr),
  readInput,
  askSecret: askSecretOf(signal),
  readFile: async (path) => textOf(await (await import('node:fs/promises')).readFile(path), path),
  lines: async () =>
    (await import('./lines.ts')).openInput({
      input: process.stdin,
      output: process.stderr,
      signal,
      interrupt,
    }),
  edit,
  signal,
  onInterrupt,
  now: () => performance.now(),
  pause: pauseOf(signal),
  open: (url) => void open(url),
})

/** The first SIGINT that nobody handles stops the command, and the next one stops the process. */
const interrupts = () => {
  const controller = new AbortController()
  let taker: (() => boolean) | undefined
  const interrupt = (): void => {
    if (taker?.()) return
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
    process.stdin.destroy()
  }
  process.on('SIGINT', interrupt)
  const onInterrupt = (listener: () => boolean) => {
    taker = listener
    return () => {
      taker = undefined
    }
  }
  return { signal: controller.signal, onInterrupt, interrupt }
}

/** Ignores a closed pipe, as in `tendril items list --all | head`. */
const endQuietly = (cause: { code?: string }): void => {
  if (cause.code === 'EPIPE') process.exit(0)
  throw cause
}

/** Sets the exit code and lets the process end by itself, so that pending output is flushed. */
export const main = async ({ server }: { server: readonly string[] }): Promise<void> => {
  const argv = process.argv.slice(2)
  if (argv.length === 1 && argv[0] === '--version') return console.log(`tendril ${version}`)
  process.stdout.on('error', endQuietly)
  process.stderr.on('error', endQuietly)
  const { runCommandLine } = await import('./main.ts')
  process.exitCode = await runCommandLine(argv, hostOf(interrupts()), server)
}
