package box2d

// Capacities of a World, chosen for the worlds that exist.
const (
	MaxBodies          = 5  // hull and four leg parts of the walker
	MaxJoints          = 4  // hips and knees
	MaxContacts        = 64 // pairs of a body and a fixture whose fattened boxes overlap; a power of two so that a mask keeps an index in range
	MaxPolygonVertices = 8  // of a body's polygon
	MaxGroundVertices  = 4  // of a polygon of the ground
)

// Tuning constants of the reference (b2Settings.h), as the float32 values that its compiler makes of them [m, s, rad].
const (
	maxFloat              float32 = 0x1.fffffep+127
	epsilon               float32 = 0x1p-23
	twoPi                 float32 = 0x1.921fb6p+2
	aabbExtension         float32 = 0.1
	aabbMultiplier        float32 = 2
	linearSlop            float32 = 0x1.47ae14p-8
	angularSlop           float32 = 0x1.1df46cp-5
	polygonRadius         float32 = 0x1.47ae14p-7
	totalRadius           float32 = 0x1.47ae14p-6 // of two shapes
	velocityThreshold     float32 = 1
	maxLinearCorrection   float32 = 0.2
	maxAngularCorrection  float32 = 0x1.1df46cp-3
	maxTranslation        float32 = 2
	maxTranslationSquared float32 = 4
	maxRotation           float32 = 0x1.921fb6p+0
	maxRotationSquared    float32 = 0x1.3bd3cep+1
	baumgarte             float32 = 0.2
	toiBaumgarte          float32 = 0.75
	timeToSleep           float32 = 0.5
	linearSleepTolSqr     float32 = 0x1.a36e2ep-14
	angularSleepTolSqr    float32 = 0x1.3f6a22p-10

	maxManifoldPoints           = 2
	maxSubSteps                 = 8
	maxTOIContacts              = 32
	referenceMaxVertices        = 16 // b2_maxPolygonVertices: bounds a loop of timeOfImpact
	toiPositionIterations       = 20
	maxConditionNumber          = 1000
	positionTolerance           = float32(-0x1.eb851ep-7) // -3 linearSlop
	toiPositionTolerance        = float32(-0x1.eb851ep-8) // -1.5 linearSlop
	toiTarget                   = float32(0x1.47ae14p-8)  // max(linearSlop, totalRadius - 3 linearSlop)
	toiTolerance                = float32(0x1.47ae14p-10) // linearSlop / 4
	toiEnd                      = float32(0x1.ffffd8p-1)  // 1 - 10 epsilon
	third                       = float32(0x1.555556p-2)
	twelfth                     = float32(0x1.555556p-4) // 0.25 * third
	hysteresisRelative          = float32(0.98)
	hysteresisAbsolute          = float32(0.001)
	maxDistanceIterations       = 20
	maxTOIIterations            = 20
	maxTOIRootIterations        = 50
	epsilonSquared              = float32(0x1p-46)
	null                  int32 = -1
)
