/** Which programs may be run at all. */
import { describe, expect, spyOn, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '#kernel/log'
import { type ConfinedProgram, createMcpClient } from '#port/mcp-client/open'
import { confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { egressTo } from '#test/support/http/egress'

const notes: ConfinedProgram = {
  command: '/usr/bin/notes',
  args: ['--stdio', '--dir=/a b'],
  env: ['NOTES_TOKEN', 'NOTES_TEAM'],
}

const clientOf = (programs: ConfinedProgram[], home: string) =>
  createMcpClient({
    egress: egressTo(),
    programs,
    home,
    log: createLog('silent'),
    version: '0',
  })

const checked = (
  program: Partial<ConfinedProgram>,
  env: Record<string, string> = {},
  home = '/nowhere',
): string => {
  try {
    clientOf([notes, { ...notes, env: ['OTHER'] }], home).check({
      transport: 'stdio',
      ...notes,
      ...program,
      env,
    })
    return 'allowed'
  } catch (cause) {
    return (cause as Error).message
  }
}

const COMMAND = 'the operator does not allow this command with these arguments (MCP_STDIO)'
const VARIABLES = 'the operator does not allow these variables (MCP_STDIO)'

describe('a program is refused', () => {
  test.each([
    ['another command', { command: '/usr/bin/note' }],
    ['a name of it', { command: 'notes' }],
    ['a detour to it', { command: '/usr/bin/../bin/notes' }],
    ['fewer arguments', { args: ['--stdio'] }],
    ['no arguments', { args: [] }],
    ['more arguments', { args: [...notes.args, '--eval=1'] }],
    ['other arguments', { args: ['--stdio', '--dir=/'] }],
    ['their order', { args: [...notes.args].reverse() }],
    ['their cut', { args: ['--stdio', '--dir=/a', 'b'] }],
    ['all in one', { args: [notes.args.join(' ')] }],
    ['the case', { command: '/usr/bin/Notes' }],
    ['a space', { command: '/usr/bin/notes ' }],
  ])('for %s', (_, program) => expect(checked(program)).toBe(COMMAND))

  test('for variables that are not its own', () => {
    const foreign: Record<string, string>[] = [
      { PATH: '/tmp' },
      { LD_PRELOAD: 'x' },
      { notes_token: 'x' },
      { NOTES_TOKEN: 'a', OTHER: 'b' },
      { '': 'x' },
    ]
    for (const env of foreign) expect(checked({}, env)).toBe(VARIABLES)
    expect(checked({}, { NOTES_TOKEN: 'a\nPATH=/tmp' })).toBe(
      'a variable of a program can have only one line',
    )
  })

  test('unless the server is root', () => {
    const getuid = spyOn(process, 'getuid').mockReturnValue(1_000)
    try {
      expect(checked({})).toBe(
        'stdio is not possible here: the server must run as root to give programs users of their own, which the image does not',
      )
    } finally {
      getuid.mockRestore()
    }
  })
})

const refusal = confinementRefusal('/nowhere', 'all')

describe.skipIf(refusal !== undefined)(`a program${refusal ? ` (${refusal})` : ''}`, () => {
  test('is allowed with the exact words', () => {
    expect(checked({})).toBe('allowed')
    expect(checked({}, { NOTES_TOKEN: 'a', NOTES_TEAM: '' })).toBe('allowed')
    expect(checked({}, { OTHER: 'a' })).toBe('allowed')
  })

  test('is refused while others can read the home', () => {
    const home = mkdtempSync(join(tmpdir(), 'home-'))
    for (const [mode, refused] of [
      [0o755, true],
      [0o733, true],
      [0o711, false],
      [0o700, false],
    ] as const) {
      chmodSync(home, mode)
      expect([mode, checked({}, {}, home).includes('close it with chmod 711')]).toEqual([
        mode,
        refused,
      ])
    }
    rmSync(home, { recursive: true })
  })
})
