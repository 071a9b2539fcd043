import type { members } from '#contract/app/members'
import { fail } from '#kernel/errors'
import { countOwners, endMembership, listMembers, type MemberRow, memberById, setRole, withdrawInvitationsOf } from '#store/app/members'
import type { Sql } from '#store/engine/db'
import { roleOf } from '#store/engine/principal'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'
import { requireFreshPassword } from '../reauthentication.ts'

const memberOf = async (sql: Sql, id: string): Promise<MemberRow> => (await memberById(sql, id)) ?? fail('not_found', 'no such member')

/** No race: letters of a workspace run one at a time, so two owners cannot demote each other at once. */
const requireAnotherOwner = async (sql: Sql, { role }: MemberRow): Promise<void> => {
  if (role === 'owner' && (await countOwners(sql)) === 1) fail('conflict', 'this is the last owner: make someone else an owner first')
}

export const memberHandlers: Handlers<typeof members> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listMembers(page)), page.limit)
    return { members: rows, next_cursor }
  },

  async update({ id, role }, { sql, gate, principal }) {
    const before = await memberOf(sql, id)
    // Otherwise a stolen session could invite an editor and then promote them.
    if (role === 'owner' && before.role !== 'owner') await requireFreshPassword({ sql, principal })
    if (role !== 'owner') await requireAnotherOwner(sql, before)
    const writes = [setRole(id, role, gate.now), ...(role === 'owner' ? [] : [withdrawInvitationsOf(id, gate.now)])]
    return { reply: { member: { ...before, role } }, effects: { writes }, auditDetail: { email: before.email, before: before.role, role } }
  },

  async remove({ id }, { sql, gate, principal }) {
    if (roleOf(principal) !== 'owner' && principal.member?.personId !== id) fail('forbidden', 'only owners can remove other members')
    const member = await memberOf(sql, id)
    await requireAnotherOwner(sql, member)
    const auditDetail = { email: member.email, role: member.role }
    return { reply: { member }, effects: { writes: endMembership(id, gate.now) }, auditDetail }
  },
}
