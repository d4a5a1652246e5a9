package sim

import "testing"

func TestLanguageFunction(t *testing.T) {
	for name, want := range map[string]bool{
		"main": false,
		"_ZN3std6thread9lifecycle18JoinInner$LT$T$GT$4join17h13f642385308d6c8E":                             true,
		"_ZN3std6thread6scoped5scope17h97d5d8943c667cd2E":                                                   true,
		"_ZN9rust_pool4main17h0123456789abcdefE":                                                            false,
		"_ZN5prog28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE":                                        false,
		"_ZN98_$LT$core..iter..adapters..map..Map$LT$B$C$F$GT$$u20$as$u20$core..iter..Iterator$GT$4fold17h": true,
		"_ZN50_$LT$prog..Wait$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE":                false,
		"_RNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB5_6Thread4join":                                 true,
		"_RNvCs1234_4prog4main": false,
		"_ZNSt13__future_base21_Async_state_commonV217_M_complete_asyncEv": true,
		"_ZNSt6vectorISt7jthreadSaIS0_EED2Ev":                              true,
		"_ZN4Pool3runEv":                                                   false,
	} {
		if got := languageFunction(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
