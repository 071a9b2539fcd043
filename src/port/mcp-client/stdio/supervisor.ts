/**
 * Starts a program that ends when we end, however that happens, together with everything it has
 * started.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { asUser, CLEAN_ENV, type Confinement, freeUser, namespacesOf } from './confinement.ts'

/**
 * The supervisor runs as root, so that the program cannot stop it. Its descriptor 3 is a pipe that
 * only we hold. When that closes or the program ends, all processes of the program's user are
 * killed, including those that left its group. The program's variables arrive over standard input,
 * one per line, so that neither root's environment nor the list of processes has them.
 */
const SUPERVISOR = `
uid=$1 folder=$2 namespaces=$3
shift 3
trap '' HUP INT TERM
sweep() { setpriv ${asUser('"$uid"').join(' ')} sh -c 'kill -KILL -1'; }
exec 4<&0 </dev/null
prlimit --core=0 --nproc=256 --nofile=1024 --fsize=1073741824 --data=2147483648 -- $namespaces \\
  setpriv ${asUser('"$uid"').join(' ')} --pdeathsig KILL \\
  sh -c 'while IFS= read -r line && [ -n "$line" ]; do export "$line"; done; exec "$@"' sh "$@" <&4 3<&- 4<&- &
child=$!
exec 4<&- >/dev/null 2>&1
( while read -r _ <&3; do :; done; sweep ) &
watch=$!
exec 3<&-
wait $child
status=$?
kill -KILL $watch
sweep
rm -rf -- "$folder"
exit $status
`

/** How long a program gets after its input has ended, and again after it was killed. */
const GRACE_MS = 1_000
const KILL_MS = 5_000

export interface Program {
  readonly stdin: Writable
  readonly stdout: NodeJS.ReadableStream
  readonly stderr: NodeJS.ReadableStream
  readonly uid: number
  /** Resolves once nothing of it is running, with its exit status or null. Never rejects. */
  readonly ended: Promise<number | null>
  /** Lets it end by itself for a moment, and then kills it. */
  stop(): Promise<void>
}

interface ProgramStart {
  command: string
  args: readonly string[]
  /** Names must be those of variables, and values must have one line. */
  env: Record<string, string>
  confinement: Confinement
}

const endsWithin = async (ended: Promise<unknown>, ms: number): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(late.resolve, ms, false)
  const isOver = await Promise.race([ended.then(() => true), late.promise])
  clearTimeout(timer)
  return isOver
}

const quiet = (stream: NodeJS.EventEmitter): void => void stream.on('error', () => {})

/** Does what a supervisor does at its end, in place of one that was killed. */
const sweep = (uid: number, folder: string): void => {
  spawnSync('setpriv', [...asUser(uid), 'sh', '-c', 'kill -KILL -1'], {
    env: CLEAN_ENV,
    timeout: KILL_MS,
  })
  rmSync(folder, { recursive: true, force: true })
}

const endOf = (child: ChildProcess, uid: number, folder: string): Promise<number | null> =>
  new Promise((resolve) => {
    const over = (status: number | null) => {
      if (status === null) sweep(uid, folder)
      resolve(status)
    }
    child.on('error', () => over(null))
    child.on('exit', over)
  })

const stop = async (
  child: ChildProcess,
  control: Writable,
  ended: Promise<unknown>,
): Promise<void> => {
  child.stdin?.end()
  child.stdout?.destroy()
  if (await endsWithin(ended, GRACE_MS)) return
  control.end()
  if (await endsWithin(ended, KILL_MS)) return
  // The program dies together with the supervisor.
  child.kill('SIGKILL')
  await endsWithin(ended, KILL_MS)
}

/**
 * Throws the system's error if the supervisor cannot be started. If the program cannot be started,
 * it counts as one that ends at once.
 */
export const startProgram = ({ command, args, env, confinement }: ProgramStart): Program => {
  const uid = freeUser()
  const folder = mkdtempSync(join(tmpdir(), 'tendril-mcp-'))
  chownSync(folder, uid, uid)
  const own = { ...CLEAN_ENV, HOME: folder, TMPDIR: folder }
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      SUPERVISOR,
      'sh',
      String(uid),
      folder,
      namespacesOf[confinement].join(' '),
      command,
      ...args,
    ],
    {
      cwd: folder,
      env: own,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    },
  )
  const { stdin, stdout, stderr } = child
  const control = child.stdio[3] as Writable
  if (!stdin || !stdout || !stderr) throw new Error('no pipes to the program')
  for (const stream of [stdin, stdout, stderr, control]) quiet(stream)
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  stdin.write(`${lines.join('')}\n`)
  const ended = endOf(child, uid, folder)
  return { stdin, stdout, stderr, uid, ended, stop: () => stop(child, control, ended) }
}
