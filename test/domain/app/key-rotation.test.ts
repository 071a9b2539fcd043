/**
 * The rotation of the secret key in a simulated world: servers start, stop, die and hear of changes
 * late, people sign in, secrets are stored, and commands of operators stop anywhere. Whatever is
 * stored can be read by every living server, and nobody is signed out.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type KeyedNode, needsOfOld, rotationStart, unsettled } from '#domain/app/key-rotation'
import { type SecretKey, secretKeyOf } from '#kernel/secret'
import { keysToServe, type SecretKeyRow, SecretKeys } from '#kernel/secret-keys'
import { runs } from '#test/support/property'

const keys = [1, 2, 3].map((byte) => secretKeyOf(Buffer.alloc(32, byte)))
const [first, second, third] = keys as [SecretKey, SecretKey, SecretKey]
/** What a server may be started with. */
const settings = [[first], [first, second], [second], [second, third], [third], [first, third]]

interface Server {
  keys: SecretKeys
  login: string
  /** Under what it seals, as it has stated with its last beat. */
  stated: string
  /** Nothing that it began before it stated this is unfinished. */
  settled: boolean
  /** The key of a value that it has sealed and not stored yet. */
  begun: string | undefined
}

/** A world, with the command of an operator in it. */
class World {
  rows: SecretKeyRow[] = []
  canary = first.fingerprint
  servers: Server[] = []
  /** The keys that values are sealed under. */
  values: string[] = []
  /** Of live sessions: under which key each has its tokens, and whether they predate the change. */
  sessions: { key: string; older: boolean }[] = []
  dropped = 0

  join(known: SecretKey[]): void {
    const missing = keysToServe(this.rows).filter(
      (one) => !known.some(({ fingerprint }) => fingerprint === one),
    )
    const newest = known.find(({ fingerprint }) => fingerprint === this.canary)
    // Refused at its start.
    if (missing.length > 0 || !newest) return
    const own = new SecretKeys(known, newest)
    own.read(this.rows)
    const login = (own.candidate ?? own.newest).fingerprint
    const stated = own.newest.fingerprint
    this.servers.push({ keys: own, login, stated, settled: true, begun: undefined })
  }

  beat(server: Server): void {
    if (server.stated !== server.keys.newest.fingerprint) {
      server.stated = server.keys.newest.fingerprint
      server.settled = false
    } else if (server.begun === undefined) server.settled = true
    expect(server.keys.read(this.rows)).toEqual([])
  }

  begin(server: Server): void {
    server.begun ??= server.keys.newest.fingerprint
  }

  store(server: Server): void {
    if (server.begun !== undefined) this.values.push(server.begun)
    server.begun = undefined
  }

  signIn({ keys: own }: Server): void {
    this.sessions.push({ key: own.newest.fingerprint, older: false })
  }

  comeBack({ keys: own }: Server, nth: number): void {
    const session = this.sessions[nth % Math.max(1, this.sessions.length)]
    if (session) Object.assign(session, { key: own.newest.fingerprint, older: false })
  }

  get #nodes(): KeyedNode[] {
    return this.servers.map(({ keys: { known }, login, stated, settled }, at) => ({
      id: String(at),
      url: '',
      known: known.map(({ fingerprint }) => fingerprint),
      newest: stated,
      login,
      settled,
    }))
  }

  #mark(state: SecretKeyRow['state'], change: Partial<SecretKeyRow>): void {
    this.rows = this.rows.map((row) => (row.state === state ? { ...row, ...change } : row))
  }

  /** Runs as far as `steps` allow. */
  rotate(known: SecretKey[], { back, steps }: { back: boolean; steps: number }): void {
    const own = new SecretKeys(known)
    const newest = known.find(({ fingerprint }) => fingerprint === this.canary)
    if (own.read(this.rows).length > 0 || !newest) return
    const candidate = known.find(
      ({ fingerprint }) =>
        fingerprint !== this.canary && !this.rows.some((row) => row.fingerprint === fingerprint),
    )?.fingerprint
    const start = rotationStart({
      rows: this.rows,
      nodes: this.#nodes,
      newest: this.canary,
      candidate,
      back,
    })
    if (start.kind === 'refused') return
    if (start.kind === 'begin') this.#turn(start)
    if (steps > 0) this.#sweep(start.to, steps)
    if (steps < 2 || unsettled({ rows: this.rows, nodes: this.#nodes }).length > 0) return
    this.#sweep(start.to, Number.POSITIVE_INFINITY)
    for (const session of this.sessions) session.older ||= session.key !== start.to
    this.#mark('new', { sealed: true })
  }

  #turn({ from, to }: { from: string; to: string }): void {
    this.rows = [
      ...this.rows.filter(({ fingerprint }) => ![from, to].includes(fingerprint)),
      { fingerprint: from, state: 'old', sealed: false },
      { fingerprint: to, state: 'new', sealed: false },
    ]
    this.canary = to
  }

  #sweep(to: string, most: number): void {
    let left = most
    this.values = this.values.map((key) => (key !== to && left-- > 0 ? to : key))
  }

  drop(): void {
    const needs = needsOfOld({ rows: this.rows, nodes: this.#nodes })
    if (needs.length > 0 || this.sessions.some(({ older }) => older)) return
    if (this.rows.some(({ state }) => state === 'old')) this.dropped++
    this.#mark('old', { state: 'dropped' })
  }

  /** What holds at any time. */
  check(): void {
    for (const { keys: own, login } of this.servers) {
      for (const key of this.values) expect(own.find(key)).toBeDefined()
      for (const { key } of this.sessions)
        expect(own.accepted.map(({ fingerprint }) => fingerprint)).toContain(key)
      const dropped = this.rows.filter(({ state }) => state === 'dropped')
      expect(dropped.map(({ fingerprint }) => fingerprint)).not.toContain(login)
    }
    for (const { fingerprint, state } of this.rows)
      if (state === 'dropped') expect(this.values).not.toContain(fingerprint)
  }
}

type Act = [what: number, who: number, how: number]

const acts: ((world: World, server: Server | undefined, how: number) => void)[] = [
  (world, _, how) => world.join(settings[how % settings.length]!),
  (world, _, how) => world.join(settings[how % settings.length]!),
  (world, server) => {
    world.servers = world.servers.filter((one) => one !== server)
  },
  (world, server) => server && world.beat(server),
  (world, server) => server && world.beat(server),
  (world, server) => server && world.beat(server),
  (world, server) => server && world.begin(server),
  (world, server) => server && world.store(server),
  (world, server) => server && world.signIn(server),
  (world, server, how) => server && world.comeBack(server, how),
  (world, _, how) =>
    world.rotate(settings[how % settings.length]!, { back: how % 7 === 0, steps: how % 3 }),
  (world, _, how) =>
    world.rotate(settings[how % settings.length]!, { back: false, steps: 2 + (how % 2) }),
  (world) => world.drop(),
]

const play = (history: Act[]): World => {
  const world = new World()
  world.join([first, second])
  for (const [what, who, how] of history) {
    const server = world.servers[who % Math.max(1, world.servers.length)]
    acts[what % acts.length]!(world, server, how)
    world.check()
  }
  return world
}

const act = fc.tuple(fc.nat(acts.length - 1), fc.nat(5), fc.nat(41))

test('everything stays readable, and nobody is signed out, whatever happens in between', () => {
  let [dropped, rotated] = [0, 0]
  fc.assert(
    fc.property(fc.array(act, { maxLength: 80, size: 'max' }), (history) => {
      const world = play(history)
      dropped += world.dropped
      rotated += world.rows.length > 0 ? 1 : 0
    }),
    runs(2_000),
  )
  expect(rotated).toBeGreaterThan(100)
  expect(dropped).toBeGreaterThan(5)
})
