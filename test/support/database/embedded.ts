/** Embedded databases in the test's process, and in one that a test may kill. */
import { join } from 'node:path'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { type DatabaseAddress, startEmbedded } from '#postgres/start'
import { ownEnv } from '../processes/own-env.ts'

const log = createLog('silent')
const program = join(import.meta.dir, 'embedded-server.ts')

export const start = (home: string) => startEmbedded({ home, log, durable: false })

export const query = async (target: DatabaseAddress, text: string): Promise<string | undefined> => {
  const sql = postgres({ ...target, max: 1, onnotice: () => {} })
  try {
    const [row] = await sql.unsafe(text).values()
    return row?.[0]
  } finally {
    await sql.end()
  }
}

export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await Bun.sleep(20)
}

export const spawnServer = (home: string, ...more: string[]) =>
  Bun.spawn([process.execPath, program, home, ...more], {
    env: ownEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Reads its output up to `ready`. Returns what came before. */
export const untilReady = async (server: ReturnType<typeof spawnServer>): Promise<string> => {
  let printed = ''
  const decoder = new TextDecoder()
  for await (const chunk of server.stdout) {
    printed += decoder.decode(chunk)
    if (printed.includes('ready')) return printed
  }
  throw new Error(await new Response(server.stderr).text())
}
