/** The command line as published: a single program run by Node, against a real server. */
import { beforeAll, expect, test } from 'bun:test'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buildCli, packCli } from '#src/scripts/build-cli'
import { deviceServer, oauthError } from '#test/support/cli/device-server'
import { cli } from '#test/support/cli/host'
import { scriptedServer } from '#test/support/cli/scripted'
import { temporaryFolder } from '#test/support/folder'
import { softwareProfile } from '#test/support/growth/profiles'
import { use, useApp } from '#test/support/use'
import { version } from '../../package.json'

let program: string
const folder = use(temporaryFolder)
beforeAll(async () => {
  program = await buildCli(join(folder.path, 'cli'))
})
const app = useApp()

const node = Bun.which('node') ?? 'node'

const start = (command: string[], input?: string) =>
  Bun.spawn(command, {
    cwd: folder.path,
    env: { PATH: process.env.PATH, HOME: folder.path },
    stdio: [input === undefined ? 'ignore' : Buffer.from(input), 'pipe', 'pipe'],
  })

const ended = async (child: ReturnType<typeof start>) => {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

/** Runs a command that must succeed, and parses its output. */
const tendril = async (argv: string[], input?: string) => {
  const { code, out, err } = await ended(start([node, program, ...argv, '--json'], input))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

test('the published program does a whole job, from the profile to the network', async () => {
  await tendril(['login', '--api-url', app.url, '--api-key', '-'], `${app.key}\n`)
  const dna = [
    '--writing-dna.stories',
    'I drove a delivery van for a week.',
    '--writing-dna.stories',
    '-18 °C at the dock — nobody came.',
  ]
  const { profile } = await tendril([
    'profile',
    'update',
    '--goal',
    'Book demos',
    '--audience',
    'operations leads',
    ...dna,
  ])
  expect(profile.writing_dna.stories).toEqual([
    'I drove a delivery van for a week.',
    '-18 °C at the dock — nobody came.',
  ])
  const { batch } = await tendril([
    'batches',
    'create',
    '--count',
    '3',
    '--focus',
    'late deliveries',
    '--wait',
  ])
  expect([batch.status, batch.items.length]).toEqual(['ready', 3])
  const { items } = await tendril(['items', 'list', '--status', 'drafted'])
  const [first, second, third] = items
  const approved = await tendril(
    ['items', 'approve', first.id, '--edited-body', '-'],
    'Every delay starts at the dock.\n\nI learned it in a van. 漢\n',
  )
  expect(approved.item).toMatchObject({
    status: 'approved',
    body: 'Every delay starts at the dock.\n\nI learned it in a van. 漢',
  })
  await Bun.write(join(folder.path, 'body.txt'), '@ada was there\n')
  expect(
    (await tendril(['items', 'approve', second.id, '--edited-body', '@body.txt'])).item.body,
  ).toBe('@ada was there')
  const later = new Date(Date.now() + 86_400_000).toISOString()
  expect((await tendril(['items', 'schedule', second.id, '--post-at', later])).item.post_at).toBe(
    later,
  )
  expect(
    (await tendril(['items', 'reject', third.id, '--reason', '--dry'])).item.reject_reason,
  ).toBe('--dry')
  const once = ['items', 'post-now', first.id, '--idempotency-key', 'once']
  const [posted, again] = [await tendril(once), await tendril(once)]
  expect(posted.item.status).toBe('posted')
  expect(again).toEqual(posted)
  const network = await app.owner`select text from sandbox.posts`
  expect(network.map(({ text }) => text)).toEqual([approved.item.body])
})

test('an article is drafted, awaited and retitled', async () => {
  const { key } = await app.newWorkspace()
  const { on_missed: _, ...profile } = softwareProfile
  await app.send('PUT', 'profile', { key, body: profile })
  const as = ['--api-url', app.url, '--api-key', key]
  const options = ['--topic', 'onboarding', '--length', 'short', '--outline', '-', '--wait']
  const { article } = await tendril(
    ['articles', 'create', ...options, ...as],
    'The mistake\nResults\n',
  )
  expect(article).toMatchObject({
    status: 'ready',
    title: 'Onboarding',
    outline: 'The mistake\nResults',
  })
  const { item } = await tendril([
    'items',
    'approve',
    article.item_id,
    '--title',
    'A promise',
    ...as,
  ])
  expect([item.title, item.body.split('\n')[0]]).toEqual(['A promise', 'A promise'])
  expect((await tendril(['articles', 'list', ...as])).articles).toMatchObject([
    { id: article.id, title: 'A promise' },
  ])
})

/**
 * Prints how often a program makes a segmenter, which takes Node as long as the rest of its start.
 */
const COUNTING = `const { Segmenter } = Intl
let made = 0
Intl.Segmenter = class extends Segmenter { constructor(...given) { super(...given); made++ } }
process.on('exit', () => console.error(made))`

test('plain text is measured without loading a segmenter', async () => {
  const listOf = (body: string) => ({ body: { items: [{ id: 'a', body }], next_cursor: null } })
  await using server = scriptedServer([listOf('plain'), listOf('漢字')])
  const segmentersFor = async (argv: string[]): Promise<string> => {
    const account = ['--api-url', server.url, '--api-key', app.key]
    const { err } = await ended(
      start([
        node,
        '--import',
        `data:text/javascript,${encodeURIComponent(COUNTING)}`,
        program,
        ...argv,
        ...account,
      ]),
    )
    return err.trim()
  }
  expect(await segmentersFor(['items', 'list'])).toBe('0')
  expect(await segmentersFor(['items', 'list'])).toBe('1')
})

test('the program is small, contains no server code, and is executable', async () => {
  const files = [...new Bun.Glob('*.mjs').scanSync(join(folder.path, 'cli'))]
  const texts = await Promise.all(
    files.map((name) => Bun.file(join(folder.path, 'cli', name)).text()),
  )
  const text = texts.join('\n')
  expect(await Bun.file(program).text()).toStartWith('#!/usr/bin/env node\n')
  expect(text.length).toBeLessThan(400_000)
  for (const name of ['elysia', 'postgres(', 'croner', 'TypeRegistry', 'Bun.'])
    expect(text.includes(name)).toBe(false)
  expect((await stat(program)).mode & 0o111).toBe(0o111)
  const imported = [...text.matchAll(/(?<!["\\])(?:\bfrom|\bimport\(|\bimport)\s*"([^"]+)"/g)].map(
    ([, name]) => name!,
  )
  expect(imported.filter((name) => !/^node:|^\.\/part-/.test(name))).toEqual([])
  expect(imported).toContain('node:http')
})

test.each(['help', 'completion fish', 'profile update --help'])(
  'the bundle prints the same as the source: %s',
  async (line) => {
    const words = line.split(' ')
    const [bundled, { code, out, err }] = [
      await ended(start([node, program, ...words])),
      await cli(words),
    ]
    expect(out.length).toBeGreaterThan(500)
    expect(bundled).toEqual({ code, out, err })
  },
)

test('the package installs on its own, without a network, and runs', async () => {
  const archive = packCli(join(folder.path, 'cli'), folder.path)
  const prefix = join(folder.path, 'prefix')
  const npm = [
    'npm',
    'install',
    '--global',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    archive,
  ]
  expect((await ended(start(npm))).code).toBe(0)
  const { code, out } = await ended(start([join(prefix, 'bin', 'tendril'), '--version']))
  expect([code, out]).toEqual([0, `tendril ${version}\n`])
  const listed = await ended(start(['tar', '-tf', archive]))
  const files = listed.out.trim().split('\n')
  const others = files.filter((name) => !name.startsWith('package/part-')).sort()
  expect(others).toEqual(
    ['LICENSE', 'LICENSES-THIRD-PARTY', 'README.md', 'package.json', 'tendril.mjs'].map(
      (name) => `package/${name}`,
    ),
  )
})

test('a reader that closes the pipe early ends an endless list without an error', async () => {
  const items = Array.from({ length: 500 }, (_, n) => ({ id: `${n}`, body: 'x'.repeat(200) }))
  await using server = scriptedServer((_, index) => ({ body: { items, next_cursor: `${index}` } }))
  const line = `"${node}" "${program}" items list --all --json --api-url ${server.url} --api-key x | head -n 1; echo "\${PIPESTATUS[0]}"`
  const { out, err } = await ended(start(['bash', '-c', line]))
  expect({ err, lines: out.trimEnd().split('\n') }).toEqual({
    err: '',
    lines: [JSON.stringify(items[0]), '0'],
  })
})

test('^C ends a login cleanly, with 130', async () => {
  await using server = deviceServer({ polls: [oauthError('authorization_pending')] })
  const child = start([node, program, 'login', '--api-url', server.url])
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader()
  let [err, isOver] = ['', false]
  while (!isOver && !err.includes('Press ^C to cancel')) {
    const { value = '', done } = await reader.read()
    err += value
    isOver = done
  }
  expect(err).toContain('Press ^C to cancel')
  child.kill('SIGINT')
  expect(await child.exited).toBe(130)
  expect((await reader.read()).value).toBeUndefined()
})

test('^C while waiting prints what is still running and how to check it, with 130', async () => {
  const batch = { id: 'b-1', status: 'generating' }
  await using server = scriptedServer([{ status: 201, body: { batch } }, { body: { batch } }])
  for (const asJson of [false, true]) {
    const argv = [
      'batches',
      'create',
      '--count',
      '1',
      '--wait',
      '--api-url',
      server.url,
      '--api-key',
      'x',
      ...(asJson ? ['--json'] : []),
    ]
    const before = server.asked.length
    const child = start([node, program, ...argv])
    while (server.asked.length < before + 2) await Bun.sleep(5)
    child.kill('SIGINT')
    const { code, out, err } = await ended(child)
    expect({ code, out }).toEqual({ code: 130, out: '' })
    const hint = 'check it with tendril batches get b-1'
    if (asJson)
      expect(JSON.parse(err)).toEqual({
        error: { code: 'interrupted', message: 'b-1 is still running', hint },
      })
    else expect(err).toBe(`tendril: interrupted: b-1 is still running\n  hint: ${hint}\n`)
  }
})

test('the environment can supply address and key, and help says so', async () => {
  await using server = scriptedServer([{ body: { items: [], next_cursor: null } }])
  const env = { TENDRIL_API_URL: server.url, TENDRIL_API_KEY: 'ak_env' }
  expect((await cli(['items', 'list'], { env })).code).toBe(0)
  expect(server.asked[0]!.headers.get('authorization')).toBe('Bearer ak_env')
  for (const words of [['--help'], ['help']])
    expect((await cli(words)).out).toContain('TENDRIL_API_URL, TENDRIL_API_KEY and TENDRIL_PROFILE')
  expect((await cli(['items', 'list', '--help'])).out).toContain('TENDRIL_API_KEY')
})
