/** What goes wrong on the way to the fake PDS and back, when a test says so. */

/**
 * `hang`: no answer comes, and nothing is done. `away`: the connection ends, and nothing is done.
 * `lost`: done, but the connection ends without the answer. `silent`: done, and no answer comes.
 * `html`: a page in place of the answer, with status 200. `endless`: a body that never ends.
 */
export type PdsFault =
  | 'hang'
  | 'away'
  | 'lost'
  | 'silent'
  | 'html'
  | 'endless'
  | { redirect: string }
  | { slowMs: number }
  /** The limit is used up, until so many seconds from now. */
  | { limitedSeconds: number }
  | {
      status: number
      error?: string
      message?: string
      /** In place of the JSON of an error. */
      body?: string
      headers?: Record<string, string>
      isApplied?: boolean
    }

interface Given {
  /** `*` means all. */
  method: string
  fault: PdsFault
  times: number
  share: number
}

/** For how many requests, or for which share of them; once if neither is said. */
export interface PdsFaultScope {
  times?: number
  share?: number
}

export class PdsFaults {
  private given: Given[] = []

  /** `next`: numbers in [0, 1), which decide about shares. */
  constructor(private readonly next: () => number) {}

  add(method: string, fault: PdsFault, { times, share }: PdsFaultScope = {}): void {
    const isShared = share !== undefined
    this.given.push({
      method,
      fault,
      times: times ?? (isShared ? Number.POSITIVE_INFINITY : 1),
      share: share ?? 1,
    })
  }

  clear(): void {
    this.given = []
  }

  /** The fault of a request, which counts as used then. */
  take(method: string): PdsFault | undefined {
    const found = this.given.find(
      (one) => (one.method === '*' || one.method === method) && this.next() < one.share,
    )
    if (!found) return undefined
    found.times -= 1
    if (found.times === 0) this.given.splice(this.given.indexOf(found), 1)
    return found.fault
  }
}

/** Whether the request is carried out all the same. */
export const isCarriedOut = (fault: PdsFault | undefined): boolean =>
  fault === undefined ||
  fault === 'lost' ||
  fault === 'silent' ||
  (typeof fault === 'object' &&
    ('slowMs' in fault || ('status' in fault && fault.isApplied === true)))

export interface PdsAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export const jsonAnswer = (status: number, value: unknown): PdsAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

const PAGE = '<!DOCTYPE html><html><head><title>Welcome</title></head><body>Welcome</body></html>'

const limited = (seconds: number, now: number): PdsAnswer => {
  const answer = jsonAnswer(429, { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' })
  Object.assign(answer.headers, {
    'ratelimit-limit': '5000',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(Math.floor(now / 1_000) + seconds),
    'ratelimit-policy': '5000;w=3600',
    'retry-after': String(seconds),
  })
  return answer
}

/** What is answered instead; undefined if nothing else is. */
export const answerInstead = (fault: PdsFault | undefined, now: number): PdsAnswer | undefined => {
  if (fault === 'html')
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: PAGE }
  if (typeof fault !== 'object' || 'slowMs' in fault) return undefined
  if ('redirect' in fault) return { status: 302, headers: { location: fault.redirect }, body: '' }
  if ('limitedSeconds' in fault) return limited(fault.limitedSeconds, now)
  const { status, error = 'InternalServerError', message = 'Internal Server Error' } = fault
  const answer = jsonAnswer(status, { error, message })
  if (fault.body !== undefined) answer.body = fault.body
  Object.assign(answer.headers, fault.headers)
  return answer
}
