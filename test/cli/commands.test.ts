/** Every operation is a command, and every level has help. */
import { describe, expect, test } from 'bun:test'
import { Type as T } from '@sinclair/typebox'
import { groups, groupsOf } from '#cli/catalogue'
import { fieldsOf } from '#cli/fields'
import { reservedGroups } from '#cli/names'
import { syntaxOf } from '#cli/syntax'
import { operations } from '#contract/index'
import { op, type Resource } from '#contract/op'
import { cli } from '#test/support/cli/host'

const commands = groups.flatMap((group) => group.commands)

test('every operation of the contract has one command', () => {
  expect(commands.map(({ operation }) => operation.id).sort()).toEqual(
    operations.map(({ id }) => id).sort(),
  )
  const names = commands.map(({ group, name }) => `${group} ${name}`)
  expect(names).toEqual([...new Set(names)])
  expect(groups.filter(({ name }) => reservedGroups.has(name))).toEqual([])
  for (const own of ['agent chat', 'agent jobs watch', 'agent documents upload'])
    expect(names).not.toContain(own)
})

test("a command has the last words of its operation's name", () => {
  const words = commands.find(({ operation }) => operation.id === 'growth.items.postNow')
  expect(words).toMatchObject({ group: 'items', name: 'post-now' })
})

test.each(commands.map((command) => [`${command.group} ${command.name}`, command] as const))(
  '%s has help with examples, and each option once',
  async (words, { operation }) => {
    const { code, out, err } = await cli([...words.split(' '), '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toStartWith(`Usage: tendril ${words} [options]`)
    expect(out).toContain(`Examples:\n  tendril ${words}`)
    for (const { flag } of fieldsOf(operation)) expect(out).toContain(`--${flag}`)
    const flags = syntaxOf(operation).options.map(({ long }) => long)
    expect(flags).toEqual([...new Set(flags)])
    expect(await cli(['help', ...words.split(' ')])).toMatchObject({ code, out })
  },
)

test('every command is in the list of all', async () => {
  const { out } = await cli(['help'])
  for (const { group, name } of commands) expect(out).toContain(`tendril ${group} ${name} `)
})

test('help marks a field as required only if every input has it, also within an object', async () => {
  const { out } = await cli(['rules', 'create', '--help'])
  const required = [...out.matchAll(/^ {2}--(\S+).*?(?=^ {2}--|^$)/gms)]
    .filter(([text]) => /\(required[);]/.test(text))
    .map(([, flag]) => flag)
  expect(required).toEqual(['name', 'trigger.kind', 'action.kind'])
})

test('help for a JSON option shows the shape of the JSON', async () => {
  const { out } = await cli(['experiments', 'create', '--help'])
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    '--arms <json> The first is the control. Default: control, without a note, and variant. {name: text, note?: text}',
  )
  expect((await cli(['rules', 'create', '--help'])).out.replaceAll(/\s+/g, '')).toContain(
    'op:<|<=|=|!=|>=|>,value?:number,text?:text}',
  )
})

describe('resources with the same name', () => {
  const resource = (prefix: string, ...names: string[]): Resource => ({
    prefix,
    about: `About ${prefix}.`,
    group: Object.fromEntries(
      names.map((name) => [
        name,
        op.command(`POST /${name}`, 'Do.', { input: {}, output: T.Object({}) }),
      ]),
    ),
  })
  const wordsOf = (...resources: Resource[]) =>
    groupsOf(resources).flatMap((group) =>
      group.commands.map(({ name }) => `${group.name} ${name}`),
    )

  test('share a group if their commands differ', () => {
    expect(
      wordsOf(resource('growth.connections', 'list'), resource('app.connections', 'create')),
    ).toEqual(['connections list', 'connections create'])
  })

  test('have groups of their own if a command is in both', () => {
    expect(
      wordsOf(resource('growth.keys', 'list'), resource('app.keys', 'list', 'create')),
    ).toEqual(['keys list', 'app-keys list', 'app-keys create'])
  })

  test('of the agent have two words, and clash with nothing', () => {
    expect(
      wordsOf(
        resource('growth.jobs', 'list'),
        resource('agent.jobs', 'list'),
        resource('agent.toolRules', 'set'),
      ),
    ).toEqual(['jobs list', 'agent jobs list', 'agent tool-rules set'])
  })

  test("leave the program's own names alone", () => {
    expect(wordsOf(resource('app.profiles', 'list'), resource('app.ruleRuns', 'signIn'))).toEqual([
      'app-profiles list',
      'rule-runs sign-in',
    ])
  })
})

describe('a mistake', () => {
  const cases: [string, string[], string][] = [
    ['in a group', ['itmes', 'list'], "unknown command 'itmes'\n  hint: Did you mean items?"],
    [
      'in a command',
      ['items', 'aprove', 'x'],
      "unknown command 'aprove'\n  hint: Did you mean approve?",
    ],
    [
      'of the program',
      ['admin', 'backup', 'x'],
      "'admin' is a command of the server, not of this client\n  hint: the single binary has it; in a clone of the repository: npm run -s admin -- …",
    ],
    [
      'in a command of the agent',
      ['agent', 'jobs', 'cancle', 'x'],
      "unknown command 'cancle'\n  hint: Did you mean cancel?",
    ],
    [
      'in a group of the agent',
      ['agent', 'jbos'],
      "unknown command 'jbos'\n  hint: Did you mean jobs?",
    ],
    [
      'in an option',
      ['items', 'list', '--statu', 'drafted'],
      "unknown option '--statu'\n  hint: Did you mean --status?",
    ],
    [
      'in a missing argument',
      ['items', 'approve'],
      "missing required argument 'id'\n  hint: see --help",
    ],
    [
      'in a missing value',
      ['items', 'list', '--status'],
      "option '--status <text>' argument missing\n  hint: see --help",
    ],
    [
      'in too many arguments',
      ['items', 'list', 'x'],
      "too many arguments for 'list'. Expected 0 arguments but got 1.\n  hint: see --help",
    ],
    [
      'in a shell',
      ['completion', 'powershell'],
      "command-argument value 'powershell' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.",
    ],
  ]
  test.each(cases)('%s is reported by name, with exit code 2', async (_, argv, text) => {
    const { code, out, err } = await cli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toStartWith(`tendril: invalid_input: ${text}`)
  })

  test('is reported as JSON to programs', async () => {
    const { code, out, err } = await cli(['items', 'list', '--json', '--limit', 'x'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'invalid_input',
        message: '--limit must be a whole number from 1 to 100, not x',
      },
    })
  })
})

test('without a command, and for a group alone, help goes to standard error with exit code 2', async () => {
  const [all, group] = [await cli([]), await cli(['items'])]
  expect([all.code, all.out, group.code, group.out]).toEqual([2, '', 2, ''])
  expect(all.err).toContain('Usage: tendril [options] [command]')
  expect(group.err).toContain('post-now')
})

test("--help at the top lists every group and the program's own commands", async () => {
  const { code, out } = await cli(['--help'])
  expect(code).toBe(0)
  for (const { name } of groups) expect(out).toContain(`\n  ${name.split(' ')[0]} `)
  for (const name of ['login', 'logout', 'whoami', 'profiles', 'completion', 'help'])
    expect(out).toContain(`\n  ${name} `)
})
