/** Calls that this tab has allowed, until their outcome is known and seen. */
import { createStore } from '../parts/store.ts'

export interface FollowedCall {
  id: string
  summary: string
}

/** The oldest goes beyond these. */
const FOLLOWED = 5

export const followedCalls = createStore<readonly FollowedCall[]>([])

export const unfollowCall = (id: string): void =>
  followedCalls.set(followedCalls.get().filter((call) => call.id !== id))

export const followCall = (call: FollowedCall): void => {
  unfollowCall(call.id)
  followedCalls.set([...followedCalls.get(), call].slice(-FOLLOWED))
}
