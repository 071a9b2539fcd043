/** `tendril admin person …`: people's accounts. */
import { resetByOperator } from '#ops/operator/admin/recovery'
import { type AdminGroup, optional, required } from './command.ts'
import { type AdminContext, email, type Flags, optionalUuid } from './flags.ts'
import { withDb } from './place.ts'

const reset = async (place: AdminContext, flags: Flags): Promise<object> => {
  const wanted = {
    email: email(flags),
    id: optionalUuid(flags, 'id'),
  }
  const { publicUrl } = place.config
  return await withDb(place, (db) => resetByOperator({ db, publicUrl }, wanted))
}

export const personGroup: AdminGroup = {
  name: 'person',
  about: "people's accounts",
  commands: {
    reset: {
      about: 'Print a link to choose a new password, which also verifies the address',
      flags: { email: required('EMAIL'), id: optional('PERSON') },
      run: reset,
    },
  },
}
