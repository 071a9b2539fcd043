/**
 * The protocol's own conformance suites against the real transport, sessions and checks; only the
 * surface is for the suites.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { temporaryFolder } from '#test/support/folder'
import { use, useApp } from '#test/support/use'
import { startKeyedProxy } from './keyed-proxy.ts'
import { conformanceServers } from './servers.ts'

const app = useApp({ overrides: { mcpServers: conformanceServers } })
const proxy = use(() => startKeyedProxy(app.url, app.key))

interface Suite {
  /** The folder of the package in node_modules. */
  name: string
  args: string[]
}

const suites: Suite[] = [
  { name: 'mcp-conformance', args: ['--suite', 'all'] },
  { name: 'mcp-conformance-alpha', args: ['--suite', 'all', '--spec-version', '2025-11-25'] },
  { name: 'mcp-conformance-alpha', args: ['--requirements', '2026-07-28'] },
]

/**
 * Runs under Bun, as it needs a newer Node than the installed one, and in a folder of its own, as
 * it leaves files.
 */
const run = async ({ name, args }: Suite): Promise<{ exitCode: number; output: string }> => {
  await using folder = await temporaryFolder()
  const program = join(process.cwd(), 'node_modules', name, 'dist', 'index.js')
  const child = Bun.spawn(
    [process.execPath, program, 'server', '--url', `${proxy.url}${MCP_PATH}`, ...args],
    {
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [out, err, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, output: `${out}\n${err}` }
}

/**
 * Scenarios by the mark before their name: `✗ ping: 1 passed, 1 failed`, and below them those that
 * a revision does not require.
 */
const namesIn = (output: string, pattern: RegExp): string[] =>
  [...output.matchAll(pattern)].map(([, name]) => name!)

test.each(suites)(
  '$name $args finds no failure',
  async (suite) => {
    const { exitCode, output } = await run(suite)
    const passed = namesIn(output, /^✓ (\S+): [1-9]\d* passed/gm)
    // The tasks extension, which Tendril does not offer, and what came after the revision.
    const notRequired = new Set(namesIn(output, /^ {2}✗ (\S+) \(/gm))
    const failed = namesIn(output, /^✗ (\S+):/gm).filter((name) => !notRequired.has(name))
    if (exitCode !== 0 || failed.length > 0 || process.env.CONFORMANCE_OUTPUT) console.log(output)
    console.log(
      `${suite.name} ${suite.args.join(' ')}: ${passed.length} scenarios passed, ${failed.length} failed, ${notRequired.size} not required`,
    )
    expect(failed).toEqual([])
    expect(passed.length).toBeGreaterThan(20)
    expect(exitCode).toBe(0)
  },
  120_000,
)
