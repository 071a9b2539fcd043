/**
 * Whether programs can be kept away from everything of ours on this machine, and which users they
 * run as.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'

/**
 * Ids that nobody has. The first ones are in no system's scheme; the others are for services that a
 * system makes temporarily.
 */
const RANGES: readonly (readonly [first: number, count: number])[] = [
  [1_900_000_000, 100_000_000],
  [61_184, 4_336],
]
const TRIES = 100

/**
 * The environment of a program's supervisor, and of the program itself apart from the variables
 * configured for its server.
 */
export const CLEAN_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
}

/** Whether others can neither list nor change the folder. */
const isClosed = (folder: string): boolean => {
  try {
    return (statSync(folder).mode & 0o006) === 0
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** The first range whose ids exist here. A container may have only a few. */
const rangeOf = (map: string): (typeof RANGES)[number] | undefined => {
  const mapped = map.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return RANGES.find(([first, count]) =>
    mapped.some(
      ([inside = 0, , length = 0]) => first >= inside && first + count <= inside + length,
    ),
  )
}

/**
 * What a program is kept from, in addition to the users, files and memory of others. `all` also
 * covers the network and the sight of other processes.
 */
export type Confinement = 'all' | 'processes' | 'none'

export const confinementOf = ({
  network,
  unconfined,
}: {
  network?: boolean
  unconfined?: boolean
}): Confinement => {
  if (unconfined) return 'none'
  return network ? 'processes' : 'all'
}

/** Both end together with the supervisor, however it ends. */
const OWN_PROCESSES = [
  'setpriv',
  '--pdeathsig',
  'KILL',
  'unshare',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
]

/** The command that makes the namespaces for the command appended to it. */
export const namespacesOf: Record<Confinement, readonly string[]> = {
  all: [...OWN_PROCESSES, '--net', '--'],
  processes: [...OWN_PROCESSES, '--'],
  none: [],
}

const runs = (command: readonly string[]): boolean =>
  spawnSync('prlimit', ['--core=0', '--', ...command], { env: CLEAN_ENV, timeout: 5_000 })
    .status === 0

const tryAs = (uid: number): string[] => ['setpriv', ...asUser(uid), 'true']

/** The arguments of setpriv, which give up everything that we may do. */
export const asUser = (uid: number | string): string[] => [
  `--reuid=${uid}`,
  `--regid=${uid}`,
  '--clear-groups',
  '--no-new-privs',
]

const NOT_ROOT =
  'the server must run as root to give programs users of their own, which the image does not'
const NO_USERS =
  'programs cannot be given users of their own: setpriv and prlimit (util-linux) are needed'
const NO_NAMESPACES =
  'programs cannot be kept from the network and from other processes: unshare (util-linux) and the right to make namespaces ' +
  'are needed, or "unconfined": true in the entry of MCP_STDIO'

/** Why no program can be run this way; undefined if programs can. */
export const confinementRefusal = (
  home: string | undefined,
  confinement: Confinement,
): string | undefined => {
  if (process.platform !== 'linux') return 'programs can be confined on Linux only'
  if (process.getuid?.() !== 0) return NOT_ROOT
  if (home !== undefined && !isClosed(home))
    return 'other users of the machine can read TENDRIL_HOME: close it with chmod 711'
  const range = rangeOf(readFileSync('/proc/self/uid_map', 'utf8'))
  if (!range) return 'this container has no user ids left for programs'
  const program = tryAs(range[0])
  if (!runs(program)) return NO_USERS
  return runs([...namespacesOf[confinement], ...program]) ? undefined : NO_NAMESPACES
}

const hasProcess = (uid: number): boolean =>
  readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && statSync(`/proc/${name}`).uid === uid
    } catch {
      return false
    }
  })

/** A user that no process has. */
export const freeUser = (): number => {
  const [first, count] = rangeOf(readFileSync('/proc/self/uid_map', 'utf8')) ?? RANGES[0]!
  for (let tries = 0; tries < TRIES; tries++) {
    const uid = first + Math.floor(Math.random() * count)
    if (!hasProcess(uid)) return uid
  }
  throw new Error('no user id is free')
}
