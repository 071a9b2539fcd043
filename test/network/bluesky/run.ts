/**
 * Runs what `*.cases.ts` beside this file declare against a real PDS on the loopback:
 * `npm run network:bluesky`, with arguments of `npm test` after `--`. Installs the PDS into the
 * folder for temporary files when it is not there yet; `TENDRIL_PDS` names another installation,
 * whose Node is in the folder of that name with `-node` behind it. Where it cannot be installed or
 * started, it says why, and ends with 0. `npm test` never comes here.
 */
import { join } from 'node:path'
import { temporaryFolder } from '#test/support/folder'
import { installed } from './installation.ts'
import { REAL_PDS_VARIABLE, type RealPds } from './real.ts'

const STARTS_WITHIN_MS = 60_000
const ENDS_WITHIN_MS = 10_000

interface Started extends AsyncDisposable {
  pds: RealPds
}

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    // It may log before.
    const line = text.split('\n').find((one) => one.startsWith('{"url"'))
    if (line && text.includes('\n', text.indexOf(line))) return line
  }
  throw new Error('it ended before it was up')
}

const start = async (): Promise<Started> => {
  const { folder, node } = await installed()
  // It leaves its files where it kept them.
  const files = await temporaryFolder()
  const child = Bun.spawn([node, join(import.meta.dir, 'serve.mjs'), folder], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, LOG_ENABLED: 'false', TMPDIR: files.path },
  })
  const timer = setTimeout(() => child.kill(), STARTS_WITHIN_MS)
  try {
    const pds = JSON.parse(await firstLine(child.stdout)) as RealPds
    return {
      pds,
      async [Symbol.asyncDispose]() {
        await child.stdin.end()
        const killed = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
        await child.exited
        clearTimeout(killed)
        await files[Symbol.asyncDispose]()
      },
    }
  } catch (cause) {
    child.kill()
    await files[Symbol.asyncDispose]()
    throw cause
  } finally {
    clearTimeout(timer)
  }
}

const started = await start().catch((cause: Error) => cause)
if (started instanceof Error) {
  console.log(`network:bluesky: skipped: ${started.message}`)
  process.exit(0)
}
await using server = started
console.log(`network:bluesky: a PDS at ${server.pds.url}, its directory at ${server.pds.plcUrl}`)
const files = [...new Bun.Glob('*.cases.ts').scanSync(import.meta.dir)].sort()
const paths = files.map((file) => `./test/network/bluesky/${file}`)
const child = Bun.spawn(
  [process.execPath, 'test/run.ts', '--parallel=1', ...process.argv.slice(2), ...paths],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, [REAL_PDS_VARIABLE]: JSON.stringify(server.pds) },
  },
)
process.exitCode = await child.exited
