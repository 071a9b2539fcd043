/** The protocol's own conformance suites against the real transport, sessions and gates; only what is served is the suites'. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { type TestApp, testApp } from '#test/support/app'
import { temporaryFolder } from '#test/support/folder'
import { type KeyedProxy, startKeyedProxy } from './keyed-proxy.ts'
import { conformanceSurface } from './surface.ts'

let app: TestApp
let proxy: KeyedProxy

beforeAll(async () => {
  app = await testApp({ overrides: { mcpSurface: conformanceSurface } })
  proxy = await startKeyedProxy(app.url, app.key)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

interface Suite {
  /** The folder of its package. */
  name: string
  args: string[]
}

const suites: Suite[] = [
  { name: 'mcp-conformance', args: ['--suite', 'all'] },
  { name: 'mcp-conformance-alpha', args: ['--suite', 'all', '--spec-version', '2025-11-25'] },
]

/** Under Bun, because it needs a newer Node than the one that is there; in a folder of its own, because it leaves files. */
const run = async ({ name, args }: Suite): Promise<{ exitCode: number; output: string }> => {
  await using folder = await temporaryFolder()
  const program = join(process.cwd(), 'node_modules', name, 'dist', 'index.js')
  const child = Bun.spawn([process.execPath, program, 'server', '--url', `${proxy.url}${MCP_PATH}`, ...args], {
    cwd: folder.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, exitCode] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { exitCode, output: `${out}\n${err}` }
}

test.each(suites)(
  '$name finds no failure',
  async (suite) => {
    const { exitCode, output } = await run(suite)
    const [summary = ''] = /Total: .*/.exec(output) ?? []
    if (exitCode !== 0 || process.env.CONFORMANCE_OUTPUT) console.log(output)
    console.log(`${suite.name}: ${summary}`)
    expect(summary).toMatch(/^Total: [1-9]\d* passed, 0 failed/)
    expect(exitCode).toBe(0)
  },
  120_000,
)
