/** How many requests and points a PDS allows, with the headers in which it says so. */

export interface PdsLimitSizes {
  /** Requests in five minutes, of everybody together: they come from one address. */
  requests: number
  /** Points of an account. */
  hour: number
  day: number
  /** Attempts to log in with one identifier, in five minutes. */
  logins: number
}

const USUAL: PdsLimitSizes = { requests: 3_000, hour: 5_000, day: 35_000, logins: 30 }
const SECONDS: Record<keyof PdsLimitSizes, number> = {
  requests: 300,
  hour: 3_600,
  day: 86_400,
  logins: 300,
}
const POINTS: Record<string, number> = {
  'com.atproto.repo.createRecord': 3,
  'com.atproto.repo.putRecord': 2,
  'com.atproto.repo.deleteRecord': 1,
}

interface Window {
  name: keyof PdsLimitSizes
  used: number
  endsAt: number
}

export class PdsLimits {
  private readonly sizes: PdsLimitSizes
  private readonly windows = new Map<string, Window>()

  constructor(sizes: Partial<PdsLimitSizes>) {
    this.sizes = { ...USUAL, ...sizes }
  }

  private use(name: Window['name'], key: string, points: number, now: number): Window {
    const id = `${name} ${key}`
    const held = this.windows.get(id)
    const endsAt = now + SECONDS[name] * 1_000
    const window = held && held.endsAt > now ? held : { name, used: 0, endsAt }
    window.used += points
    this.windows.set(id, window)
    return window
  }

  private left({ name, used }: Window): number {
    return Math.max(0, this.sizes[name] - used)
  }

  request(now: number): Window[] {
    return [this.use('requests', '', 1, now)]
  }

  login(identifier: string, now: number): Window[] {
    return [this.use('logins', identifier, 1, now)]
  }

  write(method: string, did: string, now: number): Window[] {
    const points = POINTS[method]
    if (!points) return []
    return (['hour', 'day'] as const).map((name) => this.use(name, did, points, now))
  }

  isOver(windows: Window[]): boolean {
    return windows.some(({ name, used }) => used > this.sizes[name])
  }

  /** They tell of one limit alone, of which the least is left. */
  headers(windows: Window[], now: number): Record<string, string> {
    const [tightest] = windows.toSorted((one, other) => this.left(one) - this.left(other))
    if (!tightest) return {}
    const { name, endsAt } = tightest
    return {
      'ratelimit-limit': String(this.sizes[name]),
      'ratelimit-remaining': String(this.left(tightest)),
      'ratelimit-reset': String(Math.floor(endsAt / 1_000)),
      'ratelimit-policy': `${this.sizes[name]};w=${SECONDS[name]}`,
      ...(this.isOver(windows) ? { 'retry-after': String(Math.ceil((endsAt - now) / 1_000)) } : {}),
    }
  }
}
