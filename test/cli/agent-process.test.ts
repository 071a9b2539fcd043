/** Talking to the agent in a process of its own: from a pipe, and on a terminal. */
import { describe, expect, test } from 'bun:test'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeAgent, type FakeJob } from '#test/support/cli/fake-agent'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { useEach } from '#test/support/use'

const folder = useEach(temporaryFolder)
const PROGRAM = [process.execPath, 'src/cli/bin.ts', 'agent', 'chat']
const echo = (job: FakeJob) => job.answer(`You said ${job.content}`)

const envFor = (agent: FakeAgent, more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  HOME: folder.path,
  TERM: 'xterm',
  TENDRIL_API_URL: agent.url,
  TENDRIL_API_KEY: 'ak_test',
  ...more,
})

test('lines of a pipe are sent one after the other, the last one without a line end', async () => {
  await using agent = new FakeAgent({ turn: echo })
  const child = Bun.spawn(PROGRAM, {
    env: envFor(agent),
    stdio: [new Blob(['one\r\ntwo 漢\nthree']), 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect({ code: await child.exited, out, err }).toEqual({
    code: 0,
    out: 'You said one\nYou said two 漢\nYou said three\n',
    err: '',
  })
})

test('SIGINT cancels the turn, and then ends the program', async () => {
  await using agent = new FakeAgent({
    turn: (job) => job.add('job.status', { status: 'running', error: null }),
  })
  const child = Bun.spawn(PROGRAM, {
    env: envFor(agent),
    stdio: [new Blob(['one\ntwo']), 'pipe', 'pipe'],
  })
  const did = (route: string) =>
    eventually(
      () => agent.routes.includes(route),
      (is) => is,
    )
  expect(await did('GET jobs/ID/events')).toBe(true)
  child.kill('SIGINT')
  expect(await did('POST jobs/ID/cancel')).toBe(true)
  child.kill('SIGINT')
  expect(await child.exited).toBe(130)
  expect(agent.jobs).toHaveLength(1)
})

/** util-linux: runs a command on a terminal of its own. */
const SCRIPT = Bun.which('script')

describe.skipIf(!SCRIPT || process.platform !== 'linux')('on a terminal', () => {
  /** Types each text once the one before it stands on the screen. */
  const play = async (
    agent: FakeAgent,
    scenes: [screen: RegExp, keys: string][],
    more: Record<string, string> = {},
  ) => {
    const child = Bun.spawn([SCRIPT!, '-qefc', PROGRAM.join(' '), '/dev/null'], {
      env: { ...envFor(agent, more), SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let screen = ''
    const reading = (async () => {
      for await (const bytes of child.stdout) screen += new TextDecoder().decode(bytes)
    })()
    let seen = 0
    for (const [wanted, keys] of scenes) {
      const found = await eventually(
        () => wanted.exec(screen.slice(seen)),
        (match) => match !== null,
      )
      expect(screen.slice(seen)).toMatch(wanted)
      seen += found!.index + found![0].length
      child.stdin.write(keys)
      await child.stdin.flush()
    }
    const code = await child.exited
    await reading
    return { code, screen: Bun.stripANSI(screen) }
  }

  test('lines are typed at a prompt, pasted ones wait, and ^D ends', async () => {
    await using agent = new FakeAgent({ turn: echo })
    const { code, screen } = await play(agent, [
      [/> /, 'one\r'],
      [/You said one/, ''],
      [/> /, 'two\rthree\r'],
      [/You said three/, ''],
      [/> /, '\u0004'],
    ])
    expect(code).toBe(0)
    expect(agent.jobs.map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    expect(screen).toContain('go on with tendril agent chat --conversation')
  })

  test('^C cancels the turn, and at the prompt leaves', async () => {
    await using agent = new FakeAgent({
      turn: (job) => job.add('step.started', { kind: 'tool', summary: 'A long step' }),
      cancelled: (job) => job.add('job.status', { status: 'cancelled', error: null }),
    })
    const { code } = await play(agent, [
      [/> /, 'one\r'],
      [/A long step/, '\u0003'],
      [/cancelling[\s\S]*> /, '\u0003'],
    ])
    expect(code).toBe(130)
    expect(agent.routes.filter((route) => route === 'POST jobs/ID/cancel')).toHaveLength(1)
  })

  test('arguments are edited in the editor, which has the terminal', async () => {
    const bin = join(folder.path, 'bin')
    await mkdir(bin)
    await Bun.write(join(bin, 'change'), '#!/bin/sh\ntest -t 0 && sed -i s/item:1/item:2/ "$2"\n')
    await chmod(join(bin, 'change'), 0o755)
    await using agent = new FakeAgent({
      turn: (job) =>
        job.ask({ summary: 'Post.', tool_name: 'growth_post_item', arguments: { id: 'item:1' } }),
      decided: (job, { arguments: args }) => job.answer(`done with ${JSON.stringify(args)}`),
    })
    const session = { token: 'eyperson', expires_at: '2999-01-01T00:00:00Z' }
    await mkdir(join(folder.path, '.tendril'), { mode: 0o700 })
    const profiles = { default: { api_url: agent.url, session } }
    await Bun.write(
      join(folder.path, '.tendril', 'config.json'),
      JSON.stringify({ current: 'default', profiles }),
      { mode: 0o600 },
    )
    const { code, screen } = await play(
      agent,
      [
        [/> /, 'post it\r'],
        [/edit: /, 'e\r'],
        [/item:2[\s\S]*edit: /, 'y\r'],
        [/done with/, ''],
        [/> /, '/quit\r'],
      ],
      { EDITOR: `${join(bin, 'change')} --wait`, TENDRIL_API_KEY: '' },
    )
    expect(code).toBe(0)
    expect(screen).toContain('done with {"id":"item:2"}')
  })
})
