/** The single program: the server's commands and those of the command line. */
import { expect, test } from 'bun:test'
import { temporaryFolder } from '#test/support/folder'
import { mainProgram } from '#test/support/processes/bundle'
import { version } from '../../package.json'

const cases: [string[], { code: number; out?: string; err?: string }][] = [
  [['--version'], { code: 0, out: `tendril ${version}\n` }],
  [
    ['items', 'lst'],
    { code: 2, err: "tendril: invalid_input: unknown command 'lst'\n  hint: Did you mean list?\n" },
  ],
  [
    ['serve', '--port', '1'],
    {
      code: 2,
      err: 'tendril serve takes no arguments; environment variables configure it, as the README describes\n',
    },
  ],
  // Flags are judged before a database is opened, or these would say that it is empty.
  [['admin', 'plan', 'set'], { code: 2, err: 'tendril admin: --workspace is missing\n' }],
  [['admin', 'tenant', 'create'], { code: 2, err: 'tendril admin: --name is missing\n' }],
  [
    ['admin', 'tenant', 'list', '--limit', '0'],
    { code: 2, err: 'tendril admin: --limit must be a whole number from 1 to 100: 0\n' },
  ],
  [['admin', 'webhook', 'replay'], { code: 2, err: 'tendril admin: --id is missing\n' }],
]

test.each(cases)('tendril %p', async (argv, { code, out = '', err = '' }) => {
  await using folder = await temporaryFolder()
  const child = Bun.spawn([process.execPath, await mainProgram(), ...argv], {
    env: { PATH: process.env.PATH, HOME: folder.path, TENDRIL_HOME: folder.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect({ code: await child.exited, out: printed, err: errors }).toEqual({ code, out, err })
})
