/** What programs may do, and that nothing of them is left. */
import { describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { confinementRefusal } from '#port/mcp-client/stdio/confinement'
import { type Program, startProgram as startConfined } from '#port/mcp-client/stdio/supervisor'
import { eventually } from '#test/support/eventually'
import { openLineMcp } from '#test/support/mcp/fake-mcp'
import { ownEnv } from '#test/support/processes/own-env'
import { processesOf, supervisorOf } from '#test/support/processes/processes'
import { use } from '#test/support/use'

type Start = Parameters<typeof startConfined>[0]
const startProgram = (start: Omit<Start, 'confinement'> & Partial<Start>): Program =>
  startConfined({ confinement: 'all', ...start })

const refusal = confinementRefusal('/nowhere', 'all')

describe.skipIf(refusal !== undefined)(`a program${refusal ? ` (${refusal})` : ''}`, () => {
  const fake = use(openLineMcp)

  const outputOf = async (program: Program): Promise<string> => {
    let said = ''
    for await (const bytes of program.stdout) said += bytes
    await program.ended
    return said
  }
  const said = (
    script: string,
    { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
  ): Promise<string> =>
    outputOf(startProgram({ command: 'sh', args: ['-c', script, 'sh', ...args], env }))
  const gone = (uid: number) =>
    eventually(
      () => processesOf(uid),
      (count) => count === 0,
    )

  test('has another user, alone in its groups, who can become no one else', async () => {
    const [first, second] = await Promise.all([
      said('id -u; id -g; id -G; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status'),
      said('id -u'),
    ])
    const [uid, gid, groups, privileges, capabilities] = first!.split('\n')
    expect(Number(uid)).toBeGreaterThan(1_000)
    expect([gid, groups, privileges, capabilities]).toEqual([
      uid,
      uid,
      'NoNewPrivs:\t1',
      'CapEff:\t0000000000000000',
    ])
    expect(second!.trim()).not.toBe(uid)
  })

  test('has an environment of its own', async () => {
    const value = ` a "b" 'c' $HOME \`id\` \\n é=1`
    const env = Object.fromEntries(
      (await said('env -0', { env: { NOTES_TOKEN: value } }))
        .split('\0')
        .map((line) => line.split(/=(.*)/s)),
    )
    expect(
      Object.keys(env)
        .filter((name) => name !== '')
        .sort(),
    ).toEqual(['HOME', 'LANG', 'NOTES_TOKEN', 'PATH', 'PWD', 'TMPDIR', 'TZ'])
    expect(env.NOTES_TOKEN).toBe(value)
    expect(env.HOME).toBe(env.PWD)
  })

  test('gets its arguments as they are', async () => {
    const args = ['a b', '$(id)', "'", '"', '', '\n', '-x', '*', '\\']
    expect(
      (await said('for a in "$@"; do printf "%s\\0" "$a"; done', { args }))
        .split('\0')
        .slice(0, -1),
    ).toEqual(args)
  })

  test('has no network, unless its entry says so', async () => {
    const names = 'ls /sys/class/net; cut -d: -f1 /proc/net/dev | tail -n +3'
    const reach = `(exec 3<>/dev/tcp/127.0.0.1/${fake.port}) 2>/dev/null && echo reached || echo refused`
    const script = `${names}; bash -c '${reach}'`
    const run = (confinement: Start['confinement']) =>
      outputOf(startProgram({ command: 'sh', args: ['-c', script], env: {}, confinement }))
    expect(await run('all')).toEndWith('refused\n')
    expect(await run('processes')).toEndWith('reached\n')
    expect(await run('none')).toEndWith('reached\n')
  })

  test('sees no process but its own, unless it is unconfined', async () => {
    const run = (confinement: Start['confinement']) =>
      outputOf(
        startProgram({
          command: 'sh',
          args: ['-c', 'ls -d /proc/[0-9]* | wc -l'],
          env: {},
          confinement,
        }),
      )
    const [all, processes, none] = [
      await run('all'),
      await run('processes'),
      await run('none'),
    ].map(Number)
    expect(all).toBeLessThanOrEqual(4)
    expect(processes).toBeLessThanOrEqual(4)
    expect(none).toBeGreaterThan(4)
  })

  test('has a folder that nobody else can read, and that is gone with it', async () => {
    const [folder, mode] = (
      await said('pwd; stat -c %a .; echo x > left-over; mkdir d; chmod 0 d')
    ).split('\n')
    expect([folder!.startsWith(join(tmpdir(), 'tendril-mcp-')), mode, existsSync(folder!)]).toEqual(
      [true, '700', false],
    )
  })

  test('cannot read the home, nor our environment', async () => {
    const home = mkdtempSync(join(tmpdir(), 'home-'))
    chmodSync(home, 0o711)
    writeFileSync(join(home, 'secret.key'), 'top-secret', { mode: 0o600 })
    expect(
      await said(`cat "$1/secret.key" /proc/${process.pid}/environ; ls "$1"; echo end`, {
        args: [home],
      }),
    ).toBe('end\n')
    expect(statSync(join(home, 'secret.key')).uid).toBe(0)
    rmSync(home, { recursive: true })
  })

  test('shows its variables in no list of processes', async () => {
    const program = startProgram({
      command: 'sh',
      args: ['-c', 'echo up; cat'],
      env: { NOTES_TOKEN: 'top-secret' },
    })
    await new Promise((resolve) => program.stdout.once('data', resolve))
    expect(await said('cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain('top-secret')
    await program.stop()
  })

  test('is killed with all that it has started, also beyond its group', async () => {
    const program = startProgram({
      command: 'sh',
      args: [
        '-c',
        "trap '' TERM HUP INT; setsid sh -c 'setsid sleep 1000 & sleep 1000' & sleep 1000 & echo up; while :; do sleep 1; done",
      ],
      env: {},
    })
    await new Promise((resolve) => program.stdout.once('data', resolve))
    await eventually(
      () => processesOf(program.uid),
      (count) => count >= 5,
    )
    expect(processesOf(program.uid)).toBeGreaterThanOrEqual(5)
    await program.stop()
    expect(await gone(program.uid)).toBe(0)
  })

  test('leaves nothing when it ends by itself', async () => {
    const program = startProgram({
      command: 'sh',
      args: ['-c', 'setsid sleep 1000 & exit 3'],
      env: {},
    })
    expect(await program.ended).toBe(3)
    expect(await gone(program.uid)).toBe(0)
  })

  test('cannot stop what watches it', async () => {
    const program = startProgram({
      command: 'sh',
      args: ['-c', 'kill -KILL $PPID; kill -KILL 0; kill -KILL -1; echo up; cat'],
      env: {},
    })
    await new Promise((resolve) => program.stdout.once('data', resolve))
    await program.stop()
    expect(await gone(program.uid)).toBe(0)
  })

  test('starts a bounded number of processes', async () => {
    const program = startProgram({
      command: 'sh',
      // What cannot begin another one ends; the program itself stays, with all that did begin.
      args: ['-c', '(n=0; while [ $n -lt 400 ]; do sleep 1000 & n=$((n + 1)); done) & exec cat'],
      env: {},
    })
    await eventually(
      () => processesOf(program.uid),
      (count) => count >= 250,
    )
    await Bun.sleep(500)
    expect(processesOf(program.uid)).toBeLessThanOrEqual(256)
    await program.stop()
    expect(await gone(program.uid)).toBe(0)
  })

  test('ends when its supervisor is killed', async () => {
    const program = startProgram({
      command: 'sh',
      args: ['-c', 'setsid sleep 1000 & echo up; cat'],
      env: {},
    })
    await new Promise((resolve) => program.stdout.once('data', resolve))
    process.kill(supervisorOf(program.uid), 'SIGKILL')
    expect(await program.ended).toBe(null)
    expect(await gone(program.uid)).toBe(0)
  })

  test('ends when we are killed', async () => {
    const script = "trap '' TERM HUP INT; setsid sleep 1000 & pwd; while :; do sleep 1; done"
    const host = spawn(
      process.execPath,
      ['test/support/processes/program-host.ts', 'sh', '-c', script],
      {
        env: ownEnv(),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const [uid = '', folder = ''] = (
      await new Promise<Buffer>((resolve) => host.stdout.once('data', resolve))
    )
      .toString()
      .trim()
      .split(' ')
    expect(processesOf(Number(uid))).toBeGreaterThan(0)
    host.kill('SIGKILL')
    expect(await gone(Number(uid))).toBe(0)
    await eventually(
      () => existsSync(folder),
      (is) => !is,
    )
    expect(existsSync(folder)).toBe(false)
  })
})
