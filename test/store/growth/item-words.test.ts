/** Where the words of items stand, by which lists find them. */
import { describe, expect, test } from 'bun:test'
import type { Query } from '#store/engine/db'
import { shelfOf } from '#store/growth/item-search'
import { insertItemWords, keepWords } from '#store/growth/item-words'
import { write } from '#test/support/arrange'
import { insertItem, setItem } from '#test/support/database/writes'
import { useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })

describe('the words of an item', () => {
  /** Where they stand, and where they should. */
  const stand = async (id: string) => {
    const [item] = await app.owner`select status, at from item where id = ${id}`
    const words =
      await app.owner`select word, shelf, at from item_word where item_id = ${id} order by word`
    const shelf = shelfOf(item!.status)
    return {
      words: [...words],
      expected: words.map(({ word }) => ({ word, shelf, at: shelf === 'open' ? null : item!.at })),
    }
  }

  const sweepWords = () => app.owner`select sweep_words(${app.tenantId}, 200) as more`
  const waiting = async (id: string) =>
    (await app.owner`select 1 from item_word_move where item_id = ${id}`).length
  const shelvesOfWords = async (id: string) =>
    (await stand(id)).words.map(({ word, shelf }) => `${word} ${shelf}`)
  const posted = { status: 'posted', posted_at: new Date('2026-01-02') }
  const worded = async () => {
    const id = await insertItem(app, app.tenantId, { status: 'publishing' })
    await write({ app, tenantId: app.tenantId }, { writes: [insertItemWords(id, ['one'])] })
    return id
  }

  test('of a posted item wait for the sweep together, with those that are added meanwhile', async () => {
    const id = await worded()
    await setItem(app, id, posted)
    await setItem(app, id, { posted_at: new Date('2026-01-04') })
    await write({ app, tenantId: app.tenantId }, { writes: [insertItemWords(id, ['one', 'two'])] })
    expect([await waiting(id), await shelvesOfWords(id)]).toEqual([1, ['one open', 'two open']])
    await sweepWords()
    const { words, expected } = await stand(id)
    expect([await waiting(id), words.length, words]).toEqual([0, 2, expected as never])
  })

  test.each(['deleted', 'rejected', 'drafted'])(
    'of a posted item no longer wait once it is %s',
    async (status) => {
      const id = await worded()
      await setItem(app, id, posted)
      const more = status === 'deleted' && { deleted_status: 'posted', deleted_at: new Date() }
      await setItem(app, id, { status, ...more })
      expect([await waiting(id), await shelvesOfWords(id)]).toEqual([
        0,
        [`one ${status === 'rejected' ? 'rejected' : 'open'}`],
      ])
    },
  )

  test('wait for no more than a thousand items of a workspace', async () => {
    const { tenantId } = await app.newWorkspace()
    await app.owner`insert into item_word_move (tenant_id, item_id)
      select ${tenantId}, gen_random_uuid() from generate_series(1, 999)`
    const post = async () => {
      const id = await insertItem(app, tenantId, { status: 'publishing' })
      await write({ app, tenantId }, { writes: [insertItemWords(id, ['one'])] })
      await setItem(app, id, posted)
      return [await waiting(id), await shelvesOfWords(id)]
    }
    expect(await post()).toEqual([1, ['one open']])
    expect(await post()).toEqual([0, ['one posted']])
    const more = async () =>
      (await app.owner`select sweep_words(${tenantId}, 500) as more`)[0]!.more as boolean
    let sweeps = 1
    while (await more()) sweeps++
    expect(sweeps).toBe(6)
  })

  test('stand where their item does, after each change of its state and of its time', async () => {
    const id = await insertItem(app, app.tenantId)
    const apply = (...writes: Query[]) => write({ app, tenantId: app.tenantId }, { writes })
    await apply(insertItemWords(id, ['one', 'two']))
    const changes = [
      ...[
        { status: 'approved' },
        { status: 'approved', post_at: new Date('2026-05-01') },
        { status: 'rejected' },
        { post_at: null },
      ],
      ...[
        { status: 'drafted' },
        { status: 'publishing' },
        posted,
        { posted_at: new Date('2026-01-03') },
      ],
    ]
    for (const change of changes) {
      await setItem(app, id, change)
      await sweepWords()
      const { words, expected } = await stand(id)
      expect([change, words.length, words]).toEqual([change, 2, expected as never])
    }
    await apply(keepWords(id, ['two', 'three']), insertItemWords(id, ['two', 'three']))
    const { words, expected } = await stand(id)
    expect([words.map(({ word }) => word), words]).toEqual([['three', 'two'], expected as never])
  })

  test('are added and moved by one letter', async () => {
    const id = await insertItem(app, app.tenantId, { status: 'rejected' })
    await write({ app, tenantId: app.tenantId }, { writes: [insertItemWords(id, ['one', 'two'])] })
    const reopened: Query = (sql) => sql`update item set status = 'drafted' where id = ${id}`
    await write(
      { app, tenantId: app.tenantId },
      {
        writes: [reopened, keepWords(id, ['two', 'three']), insertItemWords(id, ['two', 'three'])],
      },
    )
    const { words, expected } = await stand(id)
    expect([words.map(({ word, shelf }) => `${word} ${shelf}`), words]).toEqual([
      ['three open', 'two open'],
      expected as never,
    ])
  })

  const run = (query: Query) => query(app.owner as never) as unknown as Promise<unknown>
  /** Runs `act` in a transaction that stays open until `meanwhile` has run, or waits for it. */
  const during = async (act: Query, meanwhile: () => Promise<unknown>) => {
    const { promise: acted, resolve: tell } = Promise.withResolvers<void>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const first = app.owner.begin(async (sql) => {
      await act(sql as never)
      tell()
      await ended
    })
    await acted
    const second = meanwhile()
    await Promise.race([second, Bun.sleep(50)])
    end()
    await Promise.all([first, second])
  }

  test.each([
    [
      'deleted',
      (id: string): Query =>
        (sql) =>
          sql`update item set status = 'deleted', deleted_status = 'posted', deleted_at = now() where id = ${id}`,
    ],
    [
      'moved in time',
      (id: string): Query =>
        (sql) =>
          sql`update item set posted_at = '2026-01-05' where id = ${id}`,
    ],
  ] as const)(
    'stand where their item does when it is %s beside a sweep, whichever comes first',
    async (_, change) => {
      for (const sweepsFirst of [true, false]) {
        const id = await worded()
        await setItem(app, id, posted)
        const sweep: Query = (sql) => sql`select sweep_words(${app.tenantId}, 200)`
        const [before, after] = sweepsFirst ? [sweep, change(id)] : [change(id), sweep]
        await during(before, async () => await run(after))
        await sweepWords()
        const { words, expected } = await stand(id)
        expect([await waiting(id), words.length, words]).toEqual([0, 1, expected as never])
      }
    },
  )

  test('are changed beside a sweep, neither of which waits for the other for good', async () => {
    const id = await worded()
    await setItem(app, id, posted)
    const [keep, add] = [keepWords(id, ['two']), insertItemWords(id, ['two'])]
    let sweep: Promise<unknown> = Promise.resolve()
    await app.owner.begin(async (sql) => {
      await sql`select set_config('app.tenant', ${app.tenantId}, true)`
      await keep(sql as never)
      sweep = sweepWords()
      await Promise.race([sweep, Bun.sleep(50)])
      await add(sql as never)
    })
    await sweep
    await sweepWords()
    const { words, expected } = await stand(id)
    expect([words.map(({ word }) => word), words]).toEqual([['two'], expected as never])
  })

  test('that are added beside a sweep stand with the others', async () => {
    const id = await worded()
    await setItem(app, id, posted)
    const add = () =>
      write({ app, tenantId: app.tenantId }, { writes: [insertItemWords(id, ['two'])] })
    await during((sql) => sql`select sweep_words(${app.tenantId}, 200)`, add)
    const { words, expected } = await stand(id)
    expect([words.length, words]).toEqual([2, expected as never])
  })
})
