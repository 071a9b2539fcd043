/** `tendril admin member …`: people in workspaces. */
import { roles } from '#kernel/roles'
import { inviteByOperator } from '#ops/operator/admin/workspaces'
import { type AdminGroup, ofWorkspace, optional, required } from './command.ts'
import { type AdminContext, choice, type Flags, optionalEmail, uuid } from './flags.ts'
import { withDb } from './place.ts'

const invite = async (place: AdminContext, flags: Flags): Promise<object> => {
  const invited = {
    tenantId: uuid(flags, 'workspace'),
    role: choice(flags, 'role', roles),
    email: optionalEmail(flags),
  }
  const { publicUrl } = place.config
  return await withDb(place, async (db) => ({
    sign_in_url: await inviteByOperator({ db, publicUrl }, invited),
  }))
}

export const memberGroup: AdminGroup = {
  name: 'member',
  about: 'the people of a workspace',
  commands: {
    invite: {
      about: 'Print an invitation link; with --email, only for that address, which it verifies',
      flags: { ...ofWorkspace, role: required(roles.join('|')), email: optional('EMAIL') },
      run: invite,
    },
  },
}
