import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { cursorTo, pageOf, pageResult } from '#ops/engine/paging'
import type { Page } from '#store/engine/page'

interface Row {
  id: string
}

/** A table as a list query reads it: newest first, with one row beyond the limit. */
const query = (rows: Row[], { limit, after }: Page): Row[] =>
  rows
    .filter(({ id }) => after === undefined || id < after)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit + 1)

/** Reads all pages, and calls `between` after each. */
const readAll = (rows: Row[], limit: number, between: () => void = () => {}): Row[][] => {
  const pages: Row[][] = []
  let cursor: string | undefined
  do {
    const page = pageOf({ limit, ...(cursor === undefined ? {} : { cursor }) })
    const result = pageResult(query(rows, page), page.limit)
    pages.push(result.rows)
    cursor = result.next_cursor ?? undefined
    between()
  } while (cursor !== undefined)
  return pages
}

const table = fc
  .nat({ max: 60 })
  .map((count) => Array.from({ length: count }, () => ({ id: newId() })))
const limits = fc.integer({ min: 1, max: 25 })

test('the pages together are the complete list, in order, each row once', () => {
  fc.assert(
    fc.property(table, limits, (rows, limit) => {
      expect(readAll(rows, limit).flat()).toEqual(rows.toReversed())
    }),
  )
})

test('every page but the last is full, and the last is empty only if the list is', () => {
  fc.assert(
    fc.property(table, limits, (rows, limit) => {
      const sizes = readAll(rows, limit).map((page) => page.length)
      expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true)
      expect(sizes).toHaveLength(Math.max(1, Math.ceil(rows.length / limit)))
    }),
  )
})

test('rows added while reading shift nothing: every row there at the start appears once', () => {
  fc.assert(
    fc.property(table, limits, fc.integer({ min: 1, max: 5 }), (rows, limit, added) => {
      const before = rows.toReversed()
      const live = [...rows]
      const read = readAll(live, limit, () =>
        live.push(...Array.from({ length: added }, () => ({ id: newId() }))),
      )
      expect(read.flat()).toEqual(before)
    }),
  )
})

test('rows removed while reading end no list early, even the row of the cursor', () => {
  fc.assert(
    fc.property(table, limits, (rows, limit) => {
      const live = [...rows]
      const removed = new Set<string>()
      const read = readAll(live, limit, () => {
        const last = live.sort((a, b) => (a.id < b.id ? 1 : -1)).splice(limit - 1, 1)[0]
        if (last) removed.add(last.id)
      }).flat()
      const seen = new Set(read.map(({ id }) => id))
      expect(seen.size).toBe(read.length)
      for (const { id } of rows) expect(seen.has(id) || removed.has(id)).toBe(true)
    }),
  )
})

test('the default limit is 25', () => {
  expect(pageOf({})).toEqual({ limit: 25 })
})

test('text that is not a cursor is refused, and the field is named', () => {
  const refusal = (cursor: string): AppError | undefined => {
    try {
      pageOf({ cursor })
    } catch (cause) {
      return cause as AppError
    }
    return undefined
  }
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const id = newId()
  const garbage = [
    '',
    'x',
    id,
    encoded('1'),
    encoded(`${id}x`),
    encoded(` ${id}`),
    encoded(`${id}\n`),
    encoded(id.slice(1)),
    encoded("' or 1=1"),
  ]
  for (const cursor of garbage) {
    const error = refusal(cursor)
    expect([cursor, error?.code, error?.details]).toEqual([
      cursor,
      'invalid_input',
      [{ path: 'cursor', message: 'is not a cursor of this list' }],
    ])
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (cursor) =>
      expect(refusal(cursor)).toBeInstanceOf(AppError),
    ),
  )
})

test('the cursor to a record returns the page that begins with it', () => {
  fc.assert(
    fc.property(table, (rows) => {
      for (const { id } of rows)
        expect(query(rows, pageOf({ limit: 1, cursor: cursorTo(id)! }))[0]).toEqual({ id })
    }),
  )
})

test('the cursor to a record carries over all digits, and text that is not an id has none', () => {
  const last = '018f47a0-0000-7fff-8fff-ffffffffffff'
  expect(pageOf({ cursor: cursorTo(last)! }).after).toBe('018f47a0-0000-7fff-9000-000000000000')
  for (const text of [
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '',
    'x',
    '018F47A0-0000-7FFF-8FFF-FFFFFFFFFFFF',
  ])
    expect(cursorTo(text)).toBeUndefined()
})
