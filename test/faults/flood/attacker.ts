/**
 * A process of its own that starts requests and finishes none, so that it does not slow down the
 * measurement of the server.
 */
import { connect, type Socket } from 'node:net'
import { numbers } from '../numbers.ts'

export interface Attack {
  url: string
  /** Connections that send all of a body but its last byte. */
  bodies: number
  /** Connections that send a part of their headers, then one line a second. */
  headers: number
  /** How many addresses they use, from 127.0.0.1 on, or as many names in the proxy's header. */
  addresses: number
  proxied: boolean
  /** Connections of each kind opened a second. */
  rate: number
  /** How long everything is held, from the first connection on. */
  seconds: number
  /** A key of the attackers' workspace. */
  key: string
  seed: number
}

export interface Attacked {
  /** Connections by target and answer: `letters 404`, `session unanswered`. */
  answers: Record<string, number>
  /**
   * Connections with partial headers that the server closed, and connections that could not be
   * opened.
   */
  headersClosed: number
  unmade: number
}

interface Aim {
  path: string
  length: number
  headers: Record<string, string>
}

const MIB = 1_048_576
const JSON_TYPE = { 'content-type': 'application/json' }

const aimsOf = (key: string): Record<string, Aim> => {
  const keyed = { ...JSON_TYPE, authorization: `Bearer ${key}` }
  return {
    letters: { path: '/internal/letters', length: 4 * MIB, headers: JSON_TYPE },
    session: { path: '/api/v1/app/session', length: 16_384, headers: JSON_TYPE },
    session_large: { path: '/api/v1/app/session', length: MIB, headers: JSON_TYPE },
    device: {
      path: '/api/v1/app/device/code',
      length: 16_384,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    mcp: { path: '/api/v1/mcp', length: MIB, headers: keyed },
    keyed: { path: '/api/v1/growth/batches', length: MIB, headers: keyed },
    unknown_key: {
      path: '/api/v1/growth/batches',
      length: MIB,
      headers: { ...JSON_TYPE, authorization: 'Bearer nobody' },
    },
  }
}

const ZEROS = Buffer.alloc(4 * MIB, 32)
/** How often connections that are due are opened. */
const OPEN_EVERY_MS = 50
const DRIP_MS = 1_000

class Attackers {
  readonly #answers: Record<string, number> = {}
  readonly #sockets: Socket[] = []
  #headersClosed = 0
  #unmade = 0

  constructor(private readonly attack: Attack) {}

  async run(): Promise<Attacked> {
    const { bodies, headers, key, seed, seconds, rate } = this.attack
    const aims = Object.entries(aimsOf(key))
    const next = numbers(seed)
    const startedAt = performance.now()
    const until = startedAt + seconds * 1_000
    const due = () => ((performance.now() - startedAt) * rate) / 1_000
    for (let made = 0; made < Math.max(bodies, headers); made++) {
      while (made > due()) await Bun.sleep(OPEN_EVERY_MS)
      const [name, aim] = aims[Math.floor(next() * aims.length)]!
      const address = 1 + Math.floor(next() * this.attack.addresses)
      if (made < bodies) this.#holdBody(name, aim, address)
      if (made < headers) this.#holdHeaders(address)
    }
    await Bun.sleep(Math.max(0, until - performance.now()))
    const attacked = {
      answers: { ...this.#answers },
      headersClosed: this.#headersClosed,
      unmade: this.#unmade,
    }
    for (const socket of this.#sockets) socket.destroy()
    return attacked
  }

  #open(address: number, onOpen: (socket: Socket, forwarded: string) => void): Socket {
    const { url, proxied } = this.attack
    const { hostname, port } = new URL(url)
    const from = proxied ? {} : { localAddress: `127.0.0.${address}` }
    const forwarded = proxied ? `X-Forwarded-For: 198.51.100.${address}\r\n` : ''
    const socket = connect({ host: hostname, port: Number(port), ...from }, () =>
      onOpen(socket, forwarded),
    )
    let open = false
    socket.once('connect', () => {
      open = true
    })
    socket.on('error', () => {
      if (!open) this.#unmade++
    })
    this.#sockets.push(socket)
    return socket
  }

  #holdBody(name: string, { path, length, headers }: Aim, address: number): void {
    let answer = 'unanswered'
    const note = (now: string) => {
      this.#count(`${name} ${answer}`, -1)
      answer = now
      this.#count(`${name} ${answer}`, 1)
    }
    this.#count(`${name} ${answer}`, 1)
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`)
    const socket = this.#open(address, (open, forwarded) => {
      open.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}${forwarded}Content-Length: ${length}\r\n\r\n`,
      )
      open.write(ZEROS.subarray(0, length - 1))
    })
    socket.once('data', (bytes) => note(bytes.toString('latin1', 9, 12)))
    socket.once('close', () => answer === 'unanswered' && note('closed'))
  }

  #holdHeaders(address: number): void {
    const socket = this.#open(address, (open, forwarded) => {
      open.write(
        `POST /api/v1/app/session HTTP/1.1\r\nHost: 127.0.0.1\r\n${forwarded}X-Long: ${'x'.repeat(8_000)}\r\n`,
      )
      const drip = setInterval(() => open.write('X-More: y\r\n'), DRIP_MS)
      open.once('close', () => {
        clearInterval(drip)
        this.#headersClosed++
      })
    })
    socket.resume()
  }

  #count(name: string, change: number): void {
    const count = (this.#answers[name] ?? 0) + change
    if (count === 0) delete this.#answers[name]
    else this.#answers[name] = count
  }
}

if (import.meta.main) {
  const attack = JSON.parse(process.argv[2]!) as Attack
  console.log(JSON.stringify(await new Attackers(attack).run()))
  process.exit(0)
}
