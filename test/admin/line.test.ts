/** The words of `tendril admin …`: help, unknown commands, flags. None of it opens a database. */
import { expect, test } from 'bun:test'
import { admin } from '#admin/admin'
import { commandsOf, usageOf } from '#admin/command'
import { adminGroups } from '#admin/groups'
import { readLine } from '#admin/line'
import { heldWords } from '#admin/restore'

const commands = adminGroups.flatMap(commandsOf)

const run = async (...args: string[]) => {
  const printed = { out: '', err: '' }
  const code = await admin(args, {
    out: (line) => {
      printed.out += line
    },
    err: (line) => {
      printed.err += line
    },
  })
  return { code, ...printed }
}

test('help names every command, and help on a group or a command all its flags', async () => {
  const { code, out } = await run('help')
  expect(code).toBe(0)
  for (const { words } of commands) expect(out).toContain(`  ${words} `)
  for (const group of adminGroups) {
    const { out: shown } = await run('help', group.name)
    for (const command of commands)
      expect(shown.includes(`tendril admin ${usageOf(command)}`)).toBe(
        commandsOf(group).some(({ words }) => words === command.words),
      )
  }
  const one = 'Print an invitation link; with --email, only for that address, which it verifies:'
  for (const args of [['member'], ['member', '--help'], ['help', 'member', 'invite']])
    expect(await run(...args)).toMatchObject({ code: 0, out: expect.stringContaining(one) })
  expect((await run()).code).toBe(2)
})

test('every command takes --json, and help is JSON with it', async () => {
  for (const { words, operands = [] } of commands)
    expect(readLine([...words.split(' '), ...operands, '--json'])).toMatchObject({
      command: { words },
      help: false,
      json: true,
      operands,
    })
  expect(JSON.parse((await run('help', '--json')).out).commands).toHaveLength(commands.length)
  expect(JSON.parse((await run('person', '--json')).out)).toMatchObject({
    commands: [{ command: 'person reset', usage: 'person reset --email EMAIL [--id PERSON]' }],
  })
})

test.each([
  ['tenant lst', 'no such command: tenant lst; did you mean tenant list?'],
  ['tennant list', 'no such command: tennant list; did you mean tenant list?'],
  ['help tennant', 'no such command: tennant; did you mean tenant?'],
  ['xyzzy --limit 3', 'no such command: xyzzy ('],
  ['tenant list --limt 3', 'tenant list has no flag --limt; did you mean --limit?'],
  ['key revoke --sandbox --id 1', 'key revoke has no flag --sandbox'],
  ['tenant list all', 'tenant list takes no all'],
  ['tenant list --limit', "Option '--limit <value>' argument missing"],
])('%s is refused with what was probably meant', async (line, message) => {
  const { code, err, out } = await run(...line.split(' '))
  expect([code, out]).toEqual([2, ''])
  expect(err).toStartWith(`tendril admin: ${message}`)
})

test('a flag has the same form in every command', () => {
  const forms = new Map<string, string>()
  for (const { flags = {} } of commands)
    for (const [name, { value, many }] of Object.entries(flags)) {
      const form = `${value === undefined ? 'switch' : 'value'} ${many ?? false}`
      expect([name, forms.get(name) ?? form]).toEqual([name, form])
      forms.set(name, form)
    }
})

test('a restore says of which programs the hold is not known', () => {
  expect(heldWords('000143')).toContain('schema 000143) knows no hold')
  expect(heldWords('000144')).not.toContain('knows no hold')
})
