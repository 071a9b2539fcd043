import { describeWalks } from '#test/support/docs/walking'

describeWalks(1)
