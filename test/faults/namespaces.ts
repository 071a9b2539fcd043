/**
 * Servers in network namespaces of their own, joined by a switch in another: one bridge leads to
 * the database, one to clients and other servers. Shutting a port of the switch pulls its cable:
 * nothing arrives, and no error is seen. Everything ends with the process that holds it, however
 * that ends. The addresses are of the range reserved for such tests (RFC 2544).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { CHILD_ENV, runProgram } from '#postgres/process'

const ways = ['net', 'db'] as const
type Way = (typeof ways)[number]

export interface Place {
  /** A prefix that runs a command there. */
  within: string[]
  /** Its address. */
  address: string
  /** Pulls the cable to the database, or both cables. */
  cut(what: 'database' | 'everything'): Promise<void>
  heal(): Promise<void>
}

export interface Switch extends AsyncDisposable {
  /** Our own address towards the database: every place can reach what listens there. */
  databaseAddress: string
  /** Another place; it ends with the switch. */
  newPlace(): Promise<Place>
}

const ip = async (...command: string[]): Promise<void> => {
  const { code, stderr } = await runProgram(command)
  if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr.trim()}`)
}

const hardwareOf = (host: number): string => `02:00:00:00:00:${host.toString(16).padStart(2, '0')}`

interface Namespace extends AsyncDisposable {
  pid: string
  enter: string[]
}

/** Exists as long as its holder, which ends with us, as its input is a pipe from here. */
const newNamespace = async (): Promise<Namespace> => {
  const holder: ChildProcess = spawn('unshare', ['--net', 'cat'], {
    env: CHILD_ENV,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const gone = once(holder, 'close')
  holder.stdin!.on('error', () => {})
  holder.stdin!.write('here\n')
  const there = await Promise.race([
    once(holder.stdout!, 'data').then(() => true),
    gone.then(() => false),
  ]).catch(() => false)
  if (!there) throw new Error('cannot make a network namespace')
  return {
    pid: String(holder.pid),
    enter: ['nsenter', `--net=/proc/${holder.pid}/ns/net`],
    async [Symbol.asyncDispose]() {
      holder.stdin!.end()
      await gone
    },
  }
}

/** Why this machine has no namespaces for us, in a word or two; undefined if it has. */
export async function noNamespaces(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'not-Linux'
  if (process.getuid?.() !== 0) return 'not-root'
  try {
    await using _ = await startSwitch()
    return undefined
  } catch (cause) {
    return String(cause instanceof Error ? cause.message : cause).replaceAll(' ', '-')
  }
}

export async function startSwitch(): Promise<Switch> {
  await using stack = new AsyncDisposableStack()
  const hub = stack.use(await newNamespace())
  const [name, net] = [randomBytes(3).toString('hex'), randomInt(256)]
  const addressOf = (way: Way, host: number): string =>
    `198.${way === 'net' ? 18 : 19}.${net}.${host}`
  const ends: Record<Way, string> = { net: `t${name}-net`, db: `t${name}-db` }
  /** Connects `end`, which is already in its namespace, to a bridge. */
  const plug = async (
    way: Way,
    port: string,
    { enter, end, host }: { enter: string[]; end: string; host: number },
  ) => {
    await ip(...hub.enter, 'ip', 'link', 'set', port, 'master', way, 'up')
    await ip(...enter, 'ip', 'addr', 'add', `${addressOf(way, host)}/24`, 'dev', end)
    await ip(...enter, 'ip', 'link', 'set', end, 'address', hardwareOf(host), 'up')
  }
  /**
   * Makes both sides know each other permanently, as behind a router: without the cable, packets
   * are lost and no error is seen.
   */
  const acquaint = async (way: Way, enter: string[], host: number) => {
    const known = (other: number) => [
      'neighbour',
      'replace',
      addressOf(way, other),
      'lladdr',
      hardwareOf(other),
      'nud',
      'permanent',
      'dev',
    ]
    await ip(...enter, 'ip', ...known(1), way)
    await ip('ip', ...known(host), ends[way])
  }
  for (const way of ways) {
    await ip(...hub.enter, 'ip', 'link', 'add', way, 'type', 'bridge')
    await ip(...hub.enter, 'ip', 'link', 'set', way, 'up')
    const end = ends[way]
    await ip(
      'ip',
      'link',
      'add',
      end,
      'type',
      'veth',
      'peer',
      'name',
      `${way}-us`,
      'netns',
      hub.pid,
    )
    // It would disappear with the other end, but only some time later.
    stack.defer(() => ip('ip', 'link', 'delete', end).catch(() => {}))
    await plug(way, `${way}-us`, { enter: [], end, host: 1 })
  }
  let places = 0
  const owned = stack.move()
  return {
    databaseAddress: addressOf('db', 1),
    async newPlace() {
      const host = ++places + 1
      const { pid, enter } = owned.use(await newNamespace())
      await ip(...enter, 'ip', 'link', 'set', 'lo', 'up')
      for (const way of ways) {
        const port = `${way}-${host}`
        await ip(
          ...hub.enter,
          'ip',
          'link',
          'add',
          port,
          'type',
          'veth',
          'peer',
          'name',
          way,
          'netns',
          pid,
        )
        await plug(way, port, { enter, end: way, host })
        await acquaint(way, enter, host)
      }
      const set = (state: 'up' | 'down', which: readonly Way[]) =>
        Promise.all(
          which.map((way) => ip(...hub.enter, 'ip', 'link', 'set', `${way}-${host}`, state)),
        )
      return {
        within: enter,
        address: addressOf('net', host),
        cut: async (what) => void (await set('down', what === 'database' ? ['db'] : ways)),
        heal: async () => void (await set('up', ways)),
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
