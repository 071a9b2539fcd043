import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newId } from '#kernel/ids'
import { deleteFile, keptFile } from '#store/app/files'
import { filesCases } from '#test/cases/files'
import { type FileDesk, fileDesk } from '#test/support/files'
import { use, useSharedApp } from '#test/support/use'

const app = useSharedApp()
const desks = use(async () => {
  const { tenantId } = await app.newWorkspace()
  return {
    mine: fileDesk(app, app.tenantId),
    other: fileDesk(app, tenantId),
    async [Symbol.asyncDispose]() {},
  }
})

filesCases('Postgres', {
  get mine() {
    return desks.mine
  },
  get other() {
    return desks.other
  },
  async damage(id, at) {
    const number = Math.floor(at / 1_048_576)
    const within = at % 1_048_576
    await app.owner`update file_block set bytes = set_byte(bytes, ${within},
      get_byte(bytes, ${within}) # 1) where file_id = ${id} and number = ${number}`
  },
  async lose(id) {
    await app.owner`delete from file_block where file_id = ${id}`
  },
})

const usedKib = async ({ tenantId }: FileDesk): Promise<number> => {
  const [row] =
    await app.owner`select used from counter where tenant_id = ${tenantId} and key = 'files'`
  return row?.used ?? 0
}

const setUsed = ({ tenantId }: FileDesk, kib: number) =>
  app.owner`update counter set used = ${kib} where tenant_id = ${tenantId} and key = 'files'`

describe('a file in Postgres', () => {
  const put = (size: number) => desks.mine.files.put(desks.mine.tenantId, randomBytes(size))
  let before = 0
  afterEach(async () => {
    if (before > 0) await setUsed(desks.mine, before)
    before = 0
  })

  test('is in no table before its letter, and whole after it', async () => {
    const file = await put(1_500_000)
    const rows = async () =>
      (
        await app.owner`select (select count(*)::int from file where id = ${file.id}) as files,
      (select sum(octet_length(bytes))::int from file_block where file_id = ${file.id}) as bytes`
      )[0]
    expect(await rows()).toMatchObject({ files: 0, bytes: null })
    await desks.mine.keep(file)
    expect(await rows()).toMatchObject({ files: 1, bytes: 1_500_000 })
  })

  test('of a letter that fails is not there', async () => {
    const file = await put(10)
    const wrong = { work: [{ id: newId(), lane: 'nowhere' } as never] }
    expect(await desks.mine.keep(file, wrong).catch((cause) => cause)).toBeInstanceOf(Error)
    expect(
      await app.workplace.db.read({ tenantId: desks.mine.tenantId }, keptFile(file.id)),
    ).toEqual([])
  })

  test('counts with its KiB, and with four at least, until it is deleted', async () => {
    const start = await usedKib(desks.mine)
    const small = await desks.mine.keep(await put(1))
    expect(await usedKib(desks.mine)).toBe(start + 4)
    const large = await desks.mine.keep(await put(5_000))
    expect(await usedKib(desks.mine)).toBe(start + 4 + 5)
    await app.workplace.db.letter(desks.mine.tenantId, async (sql) => {
      await sql`select set_config('app.tenant', ${desks.mine.tenantId}, true)`
      for (const { id } of [small, large]) await deleteFile(id)(sql)
    })
    expect(await usedKib(desks.mine)).toBe(start)
    expect(
      await app.owner`select 1 from file_block where file_id in (${small.id}, ${large.id})`,
    ).toHaveLength(0)
    expect(await app.owner`select 1 from file_removal`).toHaveLength(0)
  })

  test('fits to the last KiB of a GiB, and not beyond', async () => {
    await desks.mine.keep(await put(1))
    before = await usedKib(desks.mine)
    await setUsed(desks.mine, 1_048_576 - 8)
    const [fits, over] = [await put(8 * 1_024), await put(8 * 1_024 + 1)]
    await expect(desks.mine.keep(over)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('1 GiB'),
    })
    await desks.mine.keep(fits)
    await setUsed(desks.mine, before)
  })
})
