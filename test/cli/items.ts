/** Items of a scripted server, in pages of three, and the commands that ask it. */
import type { CliOptions } from '#test/support/cli/host'
import type { Asked, Scripted } from '#test/support/cli/scripted'

export const ID = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'
export const ids = Array.from({ length: 7 }, (_, n) => `018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e1${n}`)
export const items = ids.map((id, n) => ({
  id,
  status: 'drafted',
  kind: 'post',
  body: `Text ${n}`,
  stories: [],
  post_at: null,
  created_at: '2027-01-01T00:00:00Z',
}))

/** Items in pages of three; the cursor is the index of the next. */
export const pages = ({ path }: Asked): Scripted => {
  const from = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0)
  return {
    body: {
      items: items.slice(from, from + 3),
      next_cursor: from + 3 < items.length ? String(from + 3) : null,
    },
  }
}

export const at = (url: string, more: CliOptions = {}): CliOptions => ({
  ...more,
  env: { TENDRIL_API_URL: url, TENDRIL_API_KEY: 'ak_x' },
})
