/** Names of members, for pages. */
import type { Incoming } from '../incoming.ts'
import { type PageDeps, run } from './page.ts'

/** How many pages of members are searched for a name. */
const MEMBER_PAGES = 10

/** Undefined if the person has left. */
export const nameOfMember = async (
  deps: PageDeps,
  incoming: Incoming,
  personId: string,
): Promise<string | undefined> => {
  let cursor: string | null = null
  for (let pages = 0; pages < MEMBER_PAGES; pages++) {
    const input = { limit: 100, ...(cursor === null ? {} : { cursor }) }
    const { members, next_cursor } = await run(deps, incoming, { id: 'app.members.list', input })
    const member = (members as { id: string; name: string }[]).find(({ id }) => id === personId)
    if (member || next_cursor === null) return member?.name
    cursor = next_cursor
  }
  return undefined
}
