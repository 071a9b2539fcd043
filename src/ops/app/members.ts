import type { members } from '#contract/app/members'
import { fail, found } from '#kernel/errors'
import {
  endMembership,
  listMembers,
  type MemberRow,
  memberPart,
  ownerCount,
  setRole,
  withdrawInvitationsOf,
} from '#store/app/members'
import { loadNow, when } from '#store/engine/load'
import { roleOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { requireFreshPassword, staleness } from './access/reauthentication.ts'

const requireMember = (member: MemberRow | undefined): MemberRow => found(member, 'no such member')

/**
 * No race: letters of a workspace run one at a time, so two owners cannot demote each other at
 * once.
 */
const requireAnotherOwner = ({ role }: MemberRow, owners: number): void => {
  if (role === 'owner' && owners === 1)
    fail('conflict', 'this is the last owner: make someone else an owner first', {
      reason: 'last_owner',
    })
}

export const memberHandlers: Handlers<typeof members> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listMembers(page)), page.limit)
    return { members: rows, next_cursor }
  },

  async update({ id, role }, { sql, gate, principal }) {
    const isStale = when(role === 'owner', staleness(principal))
    const { stored, owners, ...password } = await loadNow(sql, {
      stored: memberPart(id),
      owners: ownerCount,
      isStale,
    })
    const before = requireMember(stored)
    // Otherwise a stolen session could invite an editor and then promote them.
    if (role === 'owner' && before.role !== 'owner') requireFreshPassword(password.isStale)
    if (role !== 'owner') requireAnotherOwner(before, owners)
    const writes = [
      setRole(id, role, gate.now),
      ...(role === 'owner' ? [] : [withdrawInvitationsOf(id, gate.now)]),
    ]
    return {
      reply: { member: { ...before, role } },
      effects: { writes },
      auditDetail: { email: before.email, before: before.role, role },
    }
  },

  async remove({ id }, { sql, gate, principal }) {
    if (roleOf(principal) !== 'owner' && principal.member?.personId !== id)
      fail('forbidden', 'only owners can remove other members')
    const { stored, owners } = await loadNow(sql, { stored: memberPart(id), owners: ownerCount })
    const member = requireMember(stored)
    requireAnotherOwner(member, owners)
    const auditDetail = { email: member.email, role: member.role }
    return { reply: { member }, effects: { writes: endMembership(id, gate.now) }, auditDetail }
  },
}
