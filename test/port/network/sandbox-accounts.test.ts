/** Accounts of the sandbox, which belong to workspaces. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { freshDb } from '#test/support/database/db'

test('connecting a handle again returns a workspace its account, and others one of their own', async () => {
  await using database = await freshDb()
  await using store = openSandboxStore(database.options)
  const [first, second] = [newId(), newId()]
  const account = await store.account(first, 'shared')
  expect(await store.account(first, 'Shared')).toEqual(account)
  const own = await store.account(second, 'shared')
  expect(own.id).not.toBe(account.id)
  expect(await store.account(second, 'SHARED')).toEqual(own)
  expect(await store.timeline({ accountId: own.id, since: new Date(0), lagMs: 0 })).toEqual([])
})
