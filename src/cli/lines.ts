/** Lines of standard input, either from a terminal, with a prompt for each, or from a pipe. */
import { createInterface } from 'node:readline'
import type { InputLines } from './host.ts'

interface Ends {
  input: NodeJS.ReadStream
  /** For prompts. */
  output: NodeJS.WriteStream
  signal: AbortSignal
  /** Called for ^C, which a terminal that is being read does not turn into a signal. */
  interrupt(): void
}

/** How many lines of a pipe may wait to be used before reading pauses. */
const MOST_READY = 100

/**
 * Makes a new reader for each line, so that between two lines the terminal is as the shell left it:
 * ^C is a signal, and an editor can use the terminal. Several pasted lines arrive at once, and all
 * but the first wait.
 */
const fromTerminal = ({ input, output, signal, interrupt }: Ends): InputLines => {
  const ready: string[] = []
  const history: string[] = []
  const read = (prompt: string, stop?: AbortSignal): Promise<string | undefined> =>
    new Promise((resolve) => {
      const reader = createInterface({
        input,
        output,
        prompt,
        history: [...history],
        terminal: true,
      })
      const got: string[] = []
      const close = () => reader.close()
      const stops = [signal, ...(stop ? [stop] : [])]
      for (const one of stops) one.addEventListener('abort', close, { once: true })
      reader.on('line', (line) => {
        if (got.push(line) === 1) setImmediate(close)
      })
      reader.on('SIGINT', interrupt)
      reader.once('close', () => {
        for (const one of stops) one.removeEventListener('abort', close)
        ready.push(...got.slice(1))
        if (got.length === 0) output.write('\n')
        else history.unshift(got[0]!)
        resolve(got[0])
      })
      reader.prompt()
    })
  return {
    isTerminal: true,
    next: async (prompt, stop) =>
      ready.shift() ?? (signal.aborted || stop?.aborted ? undefined : read(prompt, stop)),
    [Symbol.dispose]: () => {},
  }
}

const fromPipe = ({ input, signal }: Ends): InputLines => {
  const reader = createInterface({ input })
  const ready: string[] = []
  let isClosed = false
  let wake = () => {}
  reader.on('line', (line) => {
    if (ready.push(line) > MOST_READY) reader.pause()
    wake()
  })
  reader.once('close', () => {
    isClosed = true
    wake()
  })
  signal.addEventListener('abort', () => reader.close(), { once: true })
  return {
    isTerminal: false,
    async next() {
      while (ready.length === 0 && !isClosed) {
        reader.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return ready.shift()
    },
    [Symbol.dispose]: () => reader.close(),
  }
}

export const openInput = (ends: Ends): InputLines =>
  ends.input.isTTY && ends.output.isTTY ? fromTerminal(ends) : fromPipe(ends)
